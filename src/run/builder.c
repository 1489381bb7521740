/*
 * An instance is looked up for every row of every tick, so a small open hash
 * of (scope, id) -> index stands beside the list; it is rebuilt as it grows. And
 * since a tick mostly has the rows of the tick before, in their order, the place
 * of each is remembered and looked at first.
 *
 * What is the same as in the row before is not tallied but counted: a tally is
 * told of all such ticks at once, when its number changes or the run ends. Most
 * numbers of most processes stand still, and a tally is a long way off.
 *
 * What did change is noted, one row after another, and told some ticks later:
 * of a thousand processes the tallies are megabytes, in no cache any more when
 * the next tick comes, and so they are fetched once for several of them.
 */
#include "run/builder.h"

#include <stddef.h>
#include <string.h>

#include "base/fault.h"
#include "profile/merge.h"
#include "run/series.h"

/*
 * How far an instance is told. It stands beside the list, because of most there is nothing
 * else to look at: a thousand of them are near, a thousand instances are not.
 */
struct pace {
	uint32_t id;
	enum as_scope scope : 8;
	bool tallied;         /* it has tallies                              */
	uint32_t rows;        /* that it had                                 */
	int64_t row_ns;       /* the moment of the last one                  */
	uint32_t *known;      /* of each tally: how many of them it was told of */
	uint32_t first, last; /* 1 + places of its notes; 0: none */
};

/* What a row had that the one before had not. Its numbers follow, in the order of columns. */
struct note {
	uint64_t news; /* bit c: of column c                          */
	int64_t t_ns;
	int64_t row_ns; /* the moment of the row before               */
	uint32_t rows;  /* that came before                           */
	uint32_t next;  /* 1 + the place of this instance's next; 0: none */
};

enum {
	NOTE_WORDS = sizeof(struct note) / sizeof(int64_t),
	NOTED_TICKS = 8,       /* are told together            */
	NOTED_WORDS = 1 << 18, /* or fewer, when they are many */
};

_Static_assert(sizeof(struct note) == NOTE_WORDS * sizeof(int64_t), "notes are made of words");

struct as_builder {
	struct as_run *run;
	int64_t *notes;           /* struct note and numbers, one after another */
	size_t nnotes, notes_cap; /* words                            */
	uint32_t ticks;           /* that they are of                 */
	struct pace *paces;       /* of each instance                        */
	size_t npaces, paces_cap;
	uint32_t *slots; /* index + 1 into run->instances, 0 = free */
	size_t nslots;   /* a power of two                          */
	uint32_t *seats; /* of the rows of the tick before: index + 1, 0 = none */
	size_t seats_cap;
	uint64_t next[AS_NSCOPES]; /* ids of unlisted ones from here on were not counted */
	size_t nthreads;           /* in the list                             */
	bool whole;                /* timelines are taken whole               */
};

int as_builder_new(struct as_builder **ret, struct as_err *err)
{
	struct as_builder *b = as_zalloc(sizeof *b);

	if (b)
		b->run = as_zalloc(sizeof *b->run);
	if (!b || !b->run) {
		free(b);
		return as_fail(err, AS_ENOMEM, "no memory for a run");
	}
	for (size_t t = 0; t < AS_NTOTALS; t++)
		b->run->totals[t].value = AS_NA;
	b->run->end.exit_code = -1;
	b->run->end.unmeasured = AS_NA;
	*ret = b;
	return AS_OK;
}

void as_builder_take_whole(struct as_builder *b)
{
	b->whole = true;
}

static int nomem(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to follow the run");
}

static int on_begin(void *st, const struct as_identity *who, struct as_err *err)
{
	struct as_builder *b = st;

	as_identity_done(&b->run->who);
	return as_identity_copy(&b->run->who, who, err);
}

/* ── instances ────────────────────────────────────────────────────────── */

static size_t hash(enum as_scope scope, uint32_t id)
{
	return (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) ^ (size_t)scope * 0x85ebca6bu;
}

/* The slot that holds the instance, or the free one where it belongs. */
static uint32_t *slot_of(const struct as_builder *b, enum as_scope scope, uint32_t id)
{
	for (size_t at = hash(scope, id);; at++) {
		uint32_t *slot = &b->slots[at & (b->nslots - 1)];
		const struct as_instance *i = *slot ? &b->run->instances[*slot - 1] : NULL;

		if (!i || (i->scope == scope && i->id == id))
			return slot;
	}
}

static bool rehash(struct as_builder *b)
{
	size_t n = b->nslots ? b->nslots * 2 : 64;
	uint32_t *slots = as_zalloc_n(n, sizeof *slots);

	if (!slots)
		return false;
	free(b->slots);
	b->slots = slots;
	b->nslots = n;
	for (size_t i = 0; i < b->run->ninstances; i++)
		*slot_of(b, b->run->instances[i].scope, b->run->instances[i].id) = (uint32_t)i + 1;
	return true;
}

static struct as_instance *find(const struct as_builder *b, enum as_scope scope, uint32_t id)
{
	uint32_t *slot = b->nslots ? slot_of(b, scope, id) : NULL;

	return slot && *slot ? &b->run->instances[*slot - 1] : NULL;
}

static struct as_instance *add(struct as_builder *b, enum as_scope scope, uint32_t id)
{
	struct as_run *run = b->run;

	if (run->ninstances * 2 >= b->nslots && !rehash(b))
		return NULL;
	if (!as_grow(&run->instances, &run->instances_cap, run->ninstances, sizeof *run->instances,
		     8) ||
	    !as_grow(&b->paces, &b->paces_cap, run->ninstances, sizeof *b->paces, 8))
		return NULL;
	b->paces[run->ninstances] = (struct pace){.id = id, .scope = scope};
	struct as_instance *i = &run->instances[run->ninstances];
	*i = (struct as_instance){.scope = scope,
				  .id = id,
				  .parent = AS_NO_PARENT,
				  .born_ns = AS_NA,
				  .died_ns = AS_NA,
				  .ended_by = AS_NA};
	b->npaces = ++run->ninstances;
	*slot_of(b, scope, id) = (uint32_t)run->ninstances;
	b->nthreads += scope == AS_THREAD;
	return i;
}

static bool set_text(char **to, const char *from)
{
	if (!from || (*to && !strcmp(*to, from)))
		return true;
	char *copy = as_strdup(from);
	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

static bool is_full(const struct as_builder *b, enum as_scope scope)
{
	return b->run->ninstances >= AS_INSTANCES_MAX ||
	       (scope == AS_THREAD && b->nthreads >= AS_THREADS_MAX);
}

/*
 * Ids are given in order, and an instance is told again when more is known of it. Threads
 * are not counted: job.threads says how many there were.
 */
static void count_unlisted(struct as_builder *b, const struct as_instance *i)
{
	if (i->scope == AS_THREAD || i->id < b->next[i->scope])
		return;
	b->next[i->scope] = (uint64_t)i->id + 1;
	b->run->unlisted++;
}

/* An empty one takes back what was told. */
static bool set_told(char **to, const char *from)
{
	if (!from || *from)
		return set_text(to, from);
	free(*to);
	*to = NULL;
	return true;
}

static int on_instance(void *st, const struct as_instance *from, struct as_err *err)
{
	struct as_builder *b = st;
	struct as_instance *i = find(b, from->scope, from->id);

	if (!i && is_full(b, from->scope)) {
		count_unlisted(b, from);
		return AS_OK;
	}
	if (!i)
		i = add(b, from->scope, from->id);
	if (!i || !set_told(&i->name, from->name) || !set_told(&i->detail, from->detail))
		return nomem(err);
	i->parent = from->parent;
	i->key = from->key;
	i->born_ns = from->born_ns;
	i->died_ns = from->died_ns;
	i->ended_by = from->ended_by;
	return AS_OK;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static bool is_counter(const struct as_instance *i, size_t c)
{
	return as_fields[as_scope_info(i->scope)->first + c].kind == AS_COUNTER;
}

/* Tell a tally of the rows up to the rows-th, at row_ns, in which its number stayed as it was. */
static void catch_up(struct as_instance *i, struct pace *p, size_t c, uint32_t rows, int64_t row_ns)
{
	uint32_t n = rows - p->known[c];

	if (n && is_counter(i, c))
		as_tally_counter_stays(&i->tally[c], row_ns, n);
	else if (n)
		as_tally_gauge_stays(&i->tally[c], row_ns, n);
	p->known[c] = rows;
}

static void tally_cell(struct as_instance *i, size_t c, int64_t t_ns, int64_t v)
{
	if (v == AS_NA)
		as_tally_gap(&i->tally[c]);
	else if (is_counter(i, c))
		as_tally_counter(&i->tally[c], t_ns, v);
	else
		as_tally_gauge(&i->tally[c], t_ns, v);
}

/* The first row is all there is of most processes of a build: it needs no tallies. */
static bool first_row(struct as_instance *i, struct pace *p, int64_t t_ns, const int64_t *row)
{
	size_t n = as_scope_info(i->scope)->n;

	i->last = as_zalloc_n(n, sizeof *i->last);
	if (!i->last)
		return false;
	memcpy(i->last, row, n * sizeof *row);
	p->row_ns = t_ns;
	p->rows = 1;
	return true;
}

/*
 * A device, a file or a peer is listed when it first does something, has no row while it does
 * nothing, and is there all the time: its rates are over the whole run. Not so processes: they
 * have a row soon after their birth, and most have no other.
 */
static bool lasts(const struct as_instance *i)
{
	return i->scope != AS_PROCESS && i->scope != AS_THREAD && i->born_ns != AS_NA;
}

/* What its first row counts, it counts since the run began. */
static void tally_start(struct as_instance *i)
{
	const struct as_scope_info *s = as_scope_info(i->scope);

	for (size_t c = 0; c < s->n; c++)
		if (as_fields[s->first + c].kind == AS_COUNTER && i->last[c] != AS_NA)
			as_tally_counter(&i->tally[c], 0, 0);
}

/* From the second row on: the tallies, told of the first. */
static bool start_tallies(struct as_instance *i, struct pace *p)
{
	size_t n = as_scope_info(i->scope)->n;

	p->known = as_zalloc_n(n, sizeof *p->known);
	i->tally = p->known ? as_zalloc_n(n, sizeof *i->tally) : NULL;
	if (!i->tally) {
		free(as_take(p->known));
		return false;
	}
	p->tallied = true;
	for (size_t c = 0; c < n; c++)
		i->tally[c] = as_tally_new();
	if (lasts(i) && p->row_ns > 0)
		tally_start(i);
	for (size_t c = 0; c < n; c++) {
		tally_cell(i, c, p->row_ns, i->last[c]);
		p->known[c] = p->rows;
	}
	return true;
}

/* Its tallies know everything. */
static void release(struct as_instance *i, struct pace *p)
{
	for (size_t c = 0; p->known && c < as_scope_info(i->scope)->n; c++)
		catch_up(i, p, c, p->rows, p->row_ns);
}

/* What lasts had nothing more after its last row. */
static void tally_end(struct as_instance *i, const struct pace *p, int64_t end_ns)
{
	if (!p->tallied || !lasts(i) || end_ns <= p->row_ns)
		return;
	for (size_t c = 0; c < as_scope_info(i->scope)->n; c++)
		if (is_counter(i, c))
			as_tally_counter_stays(&i->tally[c], end_ns, 0);
}

/* A count is at least what it last was; at least none says nothing. */
static bool none_so_far(const struct as_instance *i, size_t c)
{
	return i->last[c] == 0 && is_counter(i, c);
}

/*
 * Of the I/O of a process it is not even the least: what is unknown cannot be told from what
 * its children had.
 */
static bool forgets(const struct as_instance *i, size_t c)
{
	return i->scope == AS_PROCESS &&
	       as_fields[as_scope_info(AS_PROCESS)->first + c].group == AS_G_IO;
}

static void take_cell(struct as_instance *i, struct pace *p, size_t c, int64_t t_ns, int64_t v)
{
	tally_cell(i, c, t_ns, v);
	p->known[c]++;
	if (v != AS_NA || none_so_far(i, c) || forgets(i, c))
		i->last[c] = v;
}

/* ── notes ────────────────────────────────────────────────────────────── */

static bool note_row(struct as_builder *b, struct pace *p, int64_t t_ns, const int64_t *row,
		     uint64_t news)
{
	size_t at = b->nnotes, words = NOTE_WORDS + (size_t)__builtin_popcountll(news);
	struct note note = {.news = news, .t_ns = t_ns, .row_ns = p->row_ns, .rows = p->rows};

	if (!news)
		return true;
	while (b->notes_cap < at + words)
		if (!as_grow(&b->notes, &b->notes_cap, b->notes_cap, sizeof *b->notes, 512))
			return false;
	memcpy(b->notes + at, &note, sizeof note);
	for (int64_t *to = b->notes + at + NOTE_WORDS; news; news &= news - 1)
		*to++ = row[__builtin_ctzll(news)];
	b->nnotes += words;
	uint32_t place = (uint32_t)at + 1;
	if (p->last)
		memcpy((char *)(b->notes + p->last - 1) + offsetof(struct note, next), &place,
		       sizeof place);
	else
		p->first = place;
	p->last = place;
	return true;
}

/* Its tallies hear all that was noted. */
static void tell_notes(const struct as_builder *b, struct as_instance *i, struct pace *p)
{
	struct note note;

	for (uint32_t at = p->first; at; at = note.next) {
		const int64_t *value = b->notes + at - 1 + NOTE_WORDS;

		memcpy(&note, b->notes + at - 1, sizeof note);
		for (; note.news; note.news &= note.news - 1) {
			size_t c = (size_t)__builtin_ctzll(note.news);

			catch_up(i, p, c, note.rows, note.row_ns);
			take_cell(i, p, c, note.t_ns, *value++);
		}
	}
	p->first = p->last = 0;
}

/*
 * What the n-th instance will want, while those before it are at work: first itself, then the
 * tallies of what it had first, which are about those that it had later.
 */
enum { FAR_AHEAD = 8, AHEAD = 3 };

static void fetch_instance(const struct as_builder *b, size_t n)
{
	if (n >= b->npaces || !b->paces[n].first)
		return;
	__builtin_prefetch(&b->run->instances[n]);
	__builtin_prefetch(&b->run->instances[n].last);
	__builtin_prefetch(b->notes + b->paces[n].first - 1);
}

static void fetch_tallies(const struct as_builder *b, size_t n)
{
	if (n >= b->npaces || !b->paces[n].first)
		return;
	const struct as_instance *i = &b->run->instances[n];
	uint64_t news;
	memcpy(&news, b->notes + b->paces[n].first - 1, sizeof news);
	__builtin_prefetch(i->last);
	for (; news; news &= news - 1) {
		const struct as_tally *t = &i->tally[__builtin_ctzll(news)];

		__builtin_prefetch(t);
		__builtin_prefetch(&t->open);
	}
}

static void tell_all(struct as_builder *b)
{
	for (size_t n = 0; n < b->npaces && b->nnotes; n++) {
		fetch_instance(b, n + FAR_AHEAD);
		fetch_tallies(b, n + AHEAD);
		tell_notes(b, &b->run->instances[n], &b->paces[n]);
	}
	b->nnotes = b->ticks = 0;
}

/* ── rows ─────────────────────────────────────────────────────────────── */

/* One that had none has its first row, one that had one has tallies from now on. */
static bool begin_row(struct as_instance *i, struct pace *p, int64_t t_ns, const int64_t *row)
{
	if (i->last)
		return start_tallies(i, p);
	return first_row(i, p, t_ns, row) &&
	       (!(as_scope_info(i->scope)->single || lasts(i)) || start_tallies(i, p));
}

/* What has a timeline is told at once: everybody looks at it. */
static void take_all(struct as_instance *i, struct pace *p, int64_t t_ns, const int64_t *row)
{
	for (size_t c = 0; c < as_scope_info(i->scope)->n; c++)
		take_cell(i, p, c, t_ns, row[c]);
}

static bool take_row(struct as_builder *b, struct pace *p, const struct as_frame *f,
		     const struct as_row *row)
{
	struct as_instance *i = &b->run->instances[p - b->paces];
	const int64_t *cells = as_frame_cells(f, row);
	bool first = !p->rows;

	if (!p->tallied && !begin_row(i, p, f->t_ns, cells))
		return false;
	if (first)
		return true;
	if (as_scope_info(row->scope)->single)
		take_all(i, p, f->t_ns, cells);
	else if (!note_row(b, p, f->t_ns, cells, row->news))
		return false;
	p->rows++;
	p->row_ns = f->t_ns;
	return true;
}

static int begin_series(const struct as_builder *b, enum as_scope scope, struct as_err *err)
{
	struct as_series **s = &b->run->series[scope];
	int r = as_series_new(scope, s, err);

	return r == AS_OK && b->whole ? as_series_take_whole(*s, err) : r;
}

static int series_row(struct as_builder *b, enum as_scope scope, int64_t t_ns, const int64_t *row,
		      struct as_err *err)
{
	int r = b->run->series[scope] ? AS_OK : begin_series(b, scope, err);

	return r < 0 ? r : as_series_add(b->run->series[scope], t_ns, row, err);
}

/* The pace of the n-th row's instance, mostly that of the tick before; NULL: none. */
static struct pace *seat_of(struct as_builder *b, size_t n, const struct as_row *row)
{
	struct pace *p = b->seats[n] ? &b->paces[b->seats[n] - 1] : NULL;

	if (p && p->id == row->instance && p->scope == row->scope)
		return p;
	const struct as_instance *i = find(b, row->scope, row->instance);
	if (!i && as_scope_info(row->scope)->single)
		i = add(b, row->scope, row->instance);
	b->seats[n] = i ? (uint32_t)(i - b->run->instances) + 1 : 0;
	return i ? &b->paces[b->seats[n] - 1] : NULL;
}

/* A place for each row; new ones are empty. */
static bool seat_rows(struct as_builder *b, size_t n)
{
	size_t had = b->seats_cap;

	while (b->seats_cap < n)
		if (!as_grow(&b->seats, &b->seats_cap, b->seats_cap, sizeof *b->seats, 64))
			return false;
	if (b->seats_cap > had)
		memset(b->seats + had, 0, (b->seats_cap - had) * sizeof *b->seats);
	return true;
}

static int on_row(struct as_builder *b, const struct as_frame *f, size_t n, struct as_err *err)
{
	const struct as_row *row = &f->rows[n];
	bool single = as_scope_info(row->scope)->single; /* it keeps a timeline as well */
	struct pace *p = seat_of(b, n, row);

	if (p && p->tallied && row->same && !single) {
		p->rows++;
		p->row_ns = f->t_ns;
		return AS_OK;
	}
	if (p ? !take_row(b, p, f, row) : single)
		return nomem(err);
	return single ? series_row(b, row->scope, f->t_ns, as_frame_cells(f, row), err) : AS_OK;
}

/* What is unknown now was never known: a job whose first samples had nothing to hide, say. */
static void forget(struct as_builder *b, enum as_field_id f)
{
	struct as_run *run = b->run;
	enum as_scope scope = as_fields[f].scope;
	size_t column = f - as_scope_info(scope)->first;

	for (size_t i = 0; i < run->ninstances; i++) {
		struct as_instance *x = &run->instances[i];

		if (x->scope != scope || !x->last)
			continue;
		x->last[column] = AS_NA;
		if (x->tally) {
			release(x, &b->paces[i]);
			x->tally[column] = as_tally_new();
		}
	}
	if (run->series[scope])
		as_series_forget(run->series[scope], column);
}

static int on_origin(void *st, enum as_field_id f, const struct as_origin *o, struct as_err *err)
{
	struct as_builder *b = st;

	(void)err;
	b->run->origins[f] = *o;
	if (o->how == AS_UNAVAILABLE) {
		tell_all(b);
		forget(b, f);
	}
	return AS_OK;
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_builder *b = st;
	int r = seat_rows(b, f->n) ? AS_OK : nomem(err);

	for (size_t n = 0; n < f->n && r == AS_OK; n++)
		r = on_row(b, f, n, err);
	if (++b->ticks == NOTED_TICKS || b->nnotes > NOTED_WORDS)
		tell_all(b);
	if (r == AS_OK && f->t_ns > b->run->end.duration_ns)
		b->run->end.duration_ns = f->t_ns; /* so far; the end sets the true one */
	return r;
}

/* The first piece says what a profile of this run has; it belongs to the run's start. */
static int on_stacks(void *st, const struct as_profile *seen, const struct as_sampling *so_far,
		     struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;

	if (!run->stacks)
		run->stacks = as_profile_like(seen, err);
	if (!run->stacks)
		return err->code;
	as_profile_lengthen(run->stacks, seen->slice_ns);
	as_profile_merge(run->stacks, seen);
	as_profile_coarsen(run->stacks, AS_SLICES_MOST);
	run->sampling = *so_far;
	run->stacks->taking = as_taking_of(so_far);
	return as_profile_ok(run->stacks, err);
}

static int on_load(void *st, const struct as_load *l, struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;

	free(run->load); /* told again: the later one counts */
	run->load = as_zalloc(sizeof *run->load);
	if (!run->load)
		return nomem(err);
	as_load_copy(run->load, l);
	return AS_OK;
}

static int on_end(void *st, const struct as_outcome *o, const struct as_total *totals,
		  struct as_err *err)
{
	struct as_run *run = ((struct as_builder *)st)->run;
	char *error = o->error ? as_strdup(o->error) : NULL;

	if (o->error && !error)
		return nomem(err);
	free(run->end.error);
	run->end = *o;
	run->end.error = error;
	memcpy(run->totals, totals, sizeof run->totals);
	return AS_OK;
}

static const struct as_sink_ops ops = {
	.name = "run",
	.begin = on_begin,
	.origin = on_origin,
	.instance = on_instance,
	.frame = on_frame,
	.stacks = on_stacks,
	.load = on_load,
	.end = on_end,
};

struct as_sink as_builder_sink(struct as_builder *b)
{
	return (struct as_sink){.ops = &ops, .state = b};
}

struct as_run *as_builder_run(struct as_builder *b)
{
	return b->run;
}

struct as_run *as_builder_take(struct as_builder *b)
{
	struct as_run *run;

	tell_all(b);
	run = as_take(b->run);
	for (size_t i = 0; i < run->ninstances; i++) {
		release(&run->instances[i], &b->paces[i]);
		tally_end(&run->instances[i], &b->paces[i], run->end.duration_ns);
	}
	as_builder_free(b);
	return run;
}

void as_builder_free(struct as_builder *b)
{
	if (!b)
		return;
	as_run_free(b->run);
	for (size_t i = 0; i < b->npaces; i++)
		free(b->paces[i].known);
	free(b->paces);
	free(b->notes);
	free(b->slots);
	free(b->seats);
	free(b);
}
