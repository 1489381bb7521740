#include "heap/replay.h"

#include "base/fault.h"
#include "heap/newest.h"

enum { SLICES_MOST = 1 << 16 };

/* One process. */
struct stream {
	const struct as_file_process *p;
	struct as_columns_in columns;
	size_t next;            /* span that is opened next                         */
	bool open;              /* the one before it has more events                */
	bool over;              /* there is nothing more of it                      */
	bool last;              /* `e` is no event but the moment of its end        */
	struct as_heap_event e; /* what comes next                                  */
	struct as_tracker *tracker;
	struct as_newest newest;
	struct as_lasting lasting;
	uint64_t base;                /* what has a smaller ordinal was made before `from` */
	struct as_heap_totals before; /* as of then */
};

struct as_replay {
	struct as_file *f;
	struct as_replay_want want;
	struct stream *stream;
	size_t n;
	struct as_heap_crest crest; /* of all, when there are several */
	bool begun, cut;
	uint32_t slice;
	int64_t slice_end;
	int64_t checkpoint; /* where the sums are that it begins with; 0: at the beginning */
};

static bool windowed(const struct as_replay *r)
{
	return r->want.from_ns != INT64_MIN;
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to read the events of a capture");
}

/* --- the next event of a process ------------------------------------------------ */

/* Of one that was thinned: columns.h. */
static uint64_t rate_then(const struct as_replay *r, const struct stream *s)
{
	return s->e.bytes && r->f->head.sample ? s->p->variants.at[s->e.bytes - 1].rate : 0;
}

/* Everything of the event that follows from its kind. */
static inline bool complete(struct as_replay *r, struct stream *s, bool odd)
{
	struct as_heap_event *e = &s->e;

	e->rate = 0;
	if (r->f->head.sample) {
		const struct as_variant *v = &s->p->variants.at[e->kind];

		e->rate = v->rate;
		e->kind = v->kind;
	}
	const struct as_heap_kind *k = &s->p->kind[e->kind];
	if (e->what == AS_HEAP_THINNED)
		e->becomes = rate_then(r, s);
	if (!odd || e->what == AS_HEAP_THINNED)
		e->bytes = k->size;
	if (e->what == AS_HEAP_ALLOC)
		return as_newest_made(&s->newest, k->thread, e->ordinal);
	e->between = as_newest_since(&s->newest, k->thread, e->ordinal);
	return true;
}

static int damaged(struct as_replay *r, struct stream *s, int64_t at, struct as_err *err)
{
	if (!r->want.partial)
		return as_fail(err, AS_EFORMAT, "at byte %lld: a block of events is damaged",
			       (long long)at);
	r->cut = s->over = true;
	return AS_OK;
}

static int open_span(struct as_replay *r, struct stream *s, struct as_err *err)
{
	const struct as_file_span *span = &s->p->span[s->next++];
	size_t kinds = r->f->head.sample ? s->p->variants.n : s->p->nkinds;
	struct as_bytes b;

	r->f->in.at = span->at;
	r->f->in.end = AS_BLOCKS_GO_ON;
	int type = as_block_next(&r->f->in, &b, err);
	if (type < 0)
		return type;
	if (type != AS_BLOCK_EVENTS)
		return damaged(r, s, span->at, err);
	int done = as_columns_open(&s->columns, &r->f->in, &b, &span->span, kinds, err);
	s->open = done == AS_OK;
	return done == AS_EFORMAT ? damaged(r, s, span->at, err) : done;
}

/* After the last event comes the end, if the process had one; then nothing. */
static void finish(struct as_replay *r, struct stream *s)
{
	as_columns_in_done(&s->columns);
	s->over = s->last || !s->p->facts.end_ns || r->n == 1;
	if (s->over || s->p->facts.end_ns > s->e.ns)
		s->e.ns = s->p->facts.end_ns;
	s->last = true;
}

static int advance(struct as_replay *r, struct stream *s, struct as_err *err)
{
	bool odd;

	while (!s->over) {
		if (s->open && as_columns_next(&s->columns, &s->e, &odd))
			return complete(r, s, odd) ? AS_OK : no_memory(err);
		if (s->open && !as_columns_whole(&s->columns))
			return damaged(r, s, s->p->span[s->next - 1].at, err);
		s->open = false;
		if (s->next == s->p->nspans) {
			finish(r, s);
			return AS_OK;
		}
		int done = open_span(r, s, err);
		if (done < 0)
			return done;
	}
	return AS_OK;
}

/* --- through the tracker ----------------------------------------------------------- */

/* Its kind, or the shadow of it for what was made before the part that is looked at. */
static inline uint32_t counted_as(const struct as_replay *r, const struct stream *s)
{
	bool before = !r->begun || s->e.ordinal < s->base;

	return s->e.kind + (before ? (uint32_t)s->p->nkinds : 0);
}

/* One of what the trackers and the others are told of. */
static bool count(struct as_replay *r, struct stream *s)
{
	uint64_t size = s->p->kind[s->e.kind].size;

	if (r->want.lasting && r->begun && !as_lasting_event(&s->lasting, &s->e, size))
		return false;
	s->e.kind = counted_as(r, s);
	return as_tracker_event(s->tracker, &s->e);
}

/* Events up to that moment. */
static int run(struct as_replay *r, struct stream *s, int64_t until, struct as_err *err)
{
	while (!s->over && s->e.ns <= until) {
		if (s->last) {
			as_tracker_ended(s->tracker);
			finish(r, s);
			return AS_OK;
		}
		if (!count(r, s))
			return no_memory(err);
		int done = advance(r, s, err);
		if (done < 0)
			return done;
	}
	return AS_OK;
}

/* Whose event is next, and how long no other has one. */
static struct stream *earliest(struct as_replay *r, int64_t *ret_alone)
{
	struct stream *first = NULL;

	*ret_alone = INT64_MAX;
	for (size_t i = 0; i < r->n && !r->cut; i++) {
		struct stream *s = &r->stream[i];

		if (s->over)
			continue;
		if (!first || s->e.ns < first->e.ns) {
			*ret_alone = first ? first->e.ns : INT64_MAX;
			first = s;
		} else if (s->e.ns < *ret_alone) {
			*ret_alone = s->e.ns;
		}
	}
	return first;
}

/* --- from, until, slices ------------------------------------------------------------ */

static void peak_again(struct as_replay *r, int64_t ns)
{
	for (size_t i = 0; i < r->n; i++)
		as_tracker_peak_again(r->stream[i].tracker, ns);
}

/* Of the next allocation; the next event is read already. */
static uint64_t next_ordinal(const struct stream *s)
{
	bool made = !s->over && !s->last && s->e.what == AS_HEAP_ALLOC;

	return made ? s->e.ordinal : s->columns.memory.ordinal;
}

static bool last_from_now(struct as_replay *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n && r->want.lasting; i++)
		good &= as_lasting_slice(&r->stream[i].lasting, next_ordinal(&r->stream[i]));
	return good;
}

static int begin(struct as_replay *r, struct as_err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		struct stream *s = &r->stream[i];

		s->base = next_ordinal(s);
		as_tracker_totals(s->tracker, &s->before);
	}
	peak_again(r, r->want.from_ns);
	r->begun = true;
	return last_from_now(r) ? AS_OK : no_memory(err);
}

/* The end of the slice that begins then; what a file says may be beyond all time. */
static void begin_slice(struct as_replay *r, int64_t ns)
{
	if (!r->want.slice_ns || __builtin_add_overflow(ns, r->want.slice_ns, &r->slice_end))
		r->slice_end = INT64_MAX;
}

static int end_slice(struct as_replay *r, struct as_err *err)
{
	int done = r->want.slice(r->want.arg, r, r->slice++, err);

	peak_again(r, r->slice_end);
	begin_slice(r, r->slice_end);
	return done == AS_OK && !last_from_now(r) ? no_memory(err) : done;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What begins or ends not later than the next event, which is not after the file's end. */
static int boundaries(struct as_replay *r, int64_t ns, struct as_err *err)
{
	int done = AS_OK;

	ns = least(ns, r->f->end_ns);
	if (!r->begun && ns >= r->want.from_ns)
		done = begin(r, err);
	while (done == AS_OK && r->begun && ns >= r->slice_end)
		done = end_slice(r, err);
	return done;
}

/* Events before this moment can be counted without looking at any other. */
static int64_t next_boundary(const struct as_replay *r)
{
	int64_t next = r->begun ? r->slice_end : r->want.from_ns;

	return next > r->f->end_ns ? INT64_MAX : next;
}

/* The last slice is as short as what is left. */
static int end_all(struct as_replay *r, struct as_err *err)
{
	int64_t end = least(r->want.until_ns, r->f->end_ns);
	int done = boundaries(r, end, err);

	if (done == AS_OK && !r->begun)
		done = begin(r, err);
	bool rest = r->want.slice_ns && (!r->slice || end > r->slice_end - r->want.slice_ns);
	return done == AS_OK && rest ? end_slice(r, err) : done;
}

int as_replay_run(struct as_replay *r, struct as_err *err)
{
	struct stream *s;
	int64_t alone;
	int done = AS_OK;

	for (size_t i = 0; i < r->n && done == AS_OK; i++)
		done = advance(r, &r->stream[i], err);
	if (done == AS_OK && r->begun && !last_from_now(r))
		done = no_memory(err);
	while (done == AS_OK && (s = earliest(r, &alone))) {
		if (s->e.ns > r->want.until_ns) {
			s->over = true;
			continue;
		}
		done = boundaries(r, s->e.ns, err);
		int64_t until = least(least(alone, r->want.until_ns), next_boundary(r) - 1);
		if (done == AS_OK)
			done = run(r, s, until, err);
	}
	return done == AS_OK ? end_all(r, err) : done;
}

/* --- before it all -------------------------------------------------------------------- */

/* Sums are there at once where nothing is sampled: what one sample stood for they do not tell. */
static size_t find_checkpoint(const struct as_replay *r)
{
	size_t found = r->f->nsums;

	for (size_t i = 0; windowed(r) && !r->f->head.sample && i < r->f->nsums; i++)
		if (r->f->sums[i].ns <= r->want.from_ns)
			found = i;
	return found;
}

/* So many of that kind were there: as if they were made now. */
static bool hold(struct stream *s, uint32_t kind, const struct as_heap_amount *left)
{
	uint64_t size = s->p->kind[kind].size;
	struct as_heap_event e = {.kind = kind + (uint32_t)s->p->nkinds};
	uint64_t rest = (uint64_t)left->bytes;

	for (int64_t n = left->count; n > 0; n--) {
		e.bytes = n > 1 && rest >= size ? size : rest;
		rest -= e.bytes;
		if (!as_tracker_event(s->tracker, &e))
			return false;
	}
	return true;
}

static int skip_to(struct as_replay *r, struct stream *s, const struct as_heap_sums *sums,
		   struct as_err *err)
{
	uint64_t made = 0, held = 0;

	for (; s->next < s->p->nspans && s->p->span[s->next].at < r->checkpoint; s->next++)
		made += s->p->span[s->next].span.allocations;
	for (uint32_t k = 0; k < s->p->nkinds; k++) {
		int64_t left = sums[k].left.count;

		if (left < 0 || (uint64_t)left > made - held)
			return as_fail(err, AS_EFORMAT, "sums of the capture cannot be true");
		held += (uint64_t)left;
		if (!hold(s, k, &sums[k].left))
			return no_memory(err);
	}
	return AS_OK;
}

static int skip(struct as_replay *r, struct as_err *err)
{
	struct as_file_totals t;
	size_t found = find_checkpoint(r);

	if (found == r->f->nsums)
		return AS_OK;
	r->checkpoint = r->f->sums[found].at;
	int done = as_file_totals(r->f, found, &t, err);
	for (size_t i = 0; done == AS_OK && i < r->n; i++)
		done = skip_to(r, &r->stream[i], t.sums[i], err);
	as_file_totals_done(&t);
	return done;
}

static size_t threads_of(const struct as_file_process *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nkinds; i++)
		if (p->kind[i].thread >= n)
			n = (size_t)p->kind[i].thread + 1;
	return n;
}

static int stream_init(struct as_replay *r, struct stream *s, const struct as_file_process *p,
		       struct as_err *err)
{
	size_t kinds = p->nkinds << windowed(r);

	s->p = p;
	as_columns_in_init(&s->columns);
	s->tracker = as_tracker_new(r->want.temporary, r->n > 1 ? &r->crest : NULL, err);
	if (!s->tracker)
		return AS_ENOMEM;
	if (!as_newest_init(&s->newest, threads_of(p), r->want.temporary))
		return no_memory(err);
	for (size_t i = 0; i < kinds; i++)
		if (!as_tracker_kind(s->tracker, (uint32_t)i, &p->kind[i % p->nkinds]))
			return no_memory(err);
	return AS_OK;
}

static int check(const struct as_file *f, const struct as_replay_want *want, int64_t first,
		 struct as_err *err)
{
	int64_t long_ns;

	if (want->temporary >= AS_NEWEST_MOST)
		return as_fail(err, AS_EUSAGE, "a threshold of temporary allocations is below %d",
			       AS_NEWEST_MOST);
	if (want->slice_ns < 0 || __builtin_sub_overflow(f->end_ns, first, &long_ns) ||
	    (want->slice_ns && long_ns / want->slice_ns >= SLICES_MOST))
		return as_fail(err, AS_EUSAGE, "slices of %lld ns are too many",
			       (long long)want->slice_ns);
	return AS_OK;
}

static int init(struct as_replay *r, struct as_err *err)
{
	int64_t first = windowed(r) ? r->want.from_ns : r->f->head.start_ns;
	int done = check(r->f, &r->want, first, err);

	r->begun = !windowed(r);
	begin_slice(r, first);
	r->stream = as_zalloc_n(r->f->nprocesses, sizeof *r->stream);
	if (!r->stream)
		return no_memory(err);
	r->n = r->f->nprocesses;
	for (size_t i = 0; i < r->n && done == AS_OK; i++)
		done = stream_init(r, &r->stream[i], &r->f->process[i], err);
	return done == AS_OK ? skip(r, err) : done;
}

int as_replay_new(struct as_file *f, const struct as_replay_want *want, struct as_replay **ret,
		  struct as_err *err)
{
	as_auto_replay struct as_replay *r = as_zalloc(sizeof *r);

	if (!r)
		return no_memory(err);
	r->f = f;
	r->want = *want;
	int done = init(r, err);
	if (done == AS_OK)
		*ret = as_take(r);
	return done;
}

void as_replay_free(struct as_replay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++) {
		as_columns_in_done(&r->stream[i].columns);
		as_tracker_free(r->stream[i].tracker);
		as_newest_done(&r->stream[i].newest);
		as_lasting_done(&r->stream[i].lasting);
	}
	free(r->stream);
	free(r);
}

bool as_replay_cut(const struct as_replay *r)
{
	return r->cut;
}

/* --- what came of it --------------------------------------------------------------------- */

/* Numbers of a damaged file may wrap, and do no harm. */
static void more(struct as_heap_amount *a, const struct as_heap_amount *b)
{
	a->count = (int64_t)((uint64_t)a->count + (uint64_t)b->count);
	a->bytes = (int64_t)((uint64_t)a->bytes + (uint64_t)b->bytes);
}

static void less(struct as_heap_amount *a, const struct as_heap_amount *b)
{
	a->count = (int64_t)((uint64_t)a->count - (uint64_t)b->count);
	a->bytes = (int64_t)((uint64_t)a->bytes - (uint64_t)b->bytes);
}

void as_replay_sums(const struct as_replay *r, uint32_t process, uint32_t kind,
		    struct as_heap_sums *ret)
{
	const struct stream *s = &r->stream[process];
	struct as_heap_sums shadow;

	as_tracker_sums(s->tracker, kind, ret);
	if (!windowed(r))
		return;
	as_tracker_sums(s->tracker, kind + (uint32_t)s->p->nkinds, &shadow);
	more(&ret->peak, &shadow.peak);
	ret->variance_peak += shadow.variance_peak;
}

/* Of a part of the time: what was made in it, and is left of that. */
static void only_since(const struct stream *s, struct as_heap_totals *t)
{
	less(&t->made, &s->before.made);
	less(&t->freed, &s->before.freed);
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		t->sizes[i] = (int64_t)((uint64_t)t->sizes[i] - (uint64_t)s->before.sizes[i]);
	t->left = (struct as_heap_amount){0};
	for (uint32_t k = 0; k < s->p->nkinds; k++) {
		struct as_heap_sums sums;

		as_tracker_sums(s->tracker, k, &sums);
		more(&t->left, &sums.left);
	}
}

void as_replay_totals(const struct as_replay *r, uint32_t process, struct as_heap_totals *ret)
{
	const struct stream *s = &r->stream[process];

	as_tracker_totals(s->tracker, ret);
	if (windowed(r))
		only_since(s, ret);
}

const struct as_lasting *as_replay_lasting(const struct as_replay *r, uint32_t process)
{
	return &r->stream[process].lasting;
}

uint32_t as_replay_slices(const struct as_replay *r)
{
	return r->slice;
}

struct as_heap_amount as_replay_high(const struct as_replay *r, int64_t *ret_ns)
{
	struct as_heap_totals t;

	if (r->n != 1) {
		*ret_ns = r->crest.ns;
		return as_heap_crest_high(&r->crest);
	}
	as_tracker_totals(r->stream[0].tracker, &t);
	*ret_ns = t.peak_ns;
	return t.peak;
}
