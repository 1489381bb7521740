#include "base/fault.h"
#include "heap/blocks.h"
#include "heap/capture.h"
#include "heap/columns.h"
#include "heap/parts.h"
#include "heap/variants.h"

enum {
	WRITE_AT = 256 << 10, /* bytes of blocks that do not wait for the next flush */
	/*
	 * Sums are written anew when so many times their own bytes were written
	 * since: they are a small part of a file, and a reader that begins in the
	 * middle has them not far away.
	 */
	SUMS_PART = 8,
	SUMS_LEAST = 4 << 10, /* what the first are thought to take */
};

/* Without events sums are all there is: at most 128 KiB of them a second. */
#define SUMS_NS_A_BYTE INT64_C(8000)

struct process {
	struct as_columns columns;
	struct as_names_told told;
	uint64_t *size, *variant_size; /* of each kind, and of each of its variants */
	size_t nkinds, size_cap, variant_cap;
	struct as_buf kinds, new_variants; /* that were not written yet */
	size_t nkinds_new, nvariants_new;
	struct as_heap_kind kind; /* the last of these */
	struct as_variants variants;
	struct as_heap_sums *last; /* of each kind, as written; aggregated only */
	size_t last_cap;
};

struct as_capture {
	struct as_blocks_out out;
	bool over; /* something failed, and was said */
	bool sampled, aggregated;
	struct process *process;
	size_t n, cap;
	struct as_buf points, files; /* of these points */
	struct as_heap_point point;  /* the last one */
	size_t npoints;
	int64_t whole_at, whole_len; /* where the last full sums are, and their bytes */
	int64_t sums_ns;             /* not before */
	bool summed;                 /* since the last points */
};

/* --- beginning and end ------------------------------------------------------ */

static void process_done(struct process *p)
{
	as_columns_done(&p->columns);
	as_names_told_done(&p->told);
	as_variants_done(&p->variants);
	as_buf_done(&p->kinds);
	as_buf_done(&p->new_variants);
	free(p->size);
	free(p->variant_size);
	free(p->last);
}

void as_capture_free(struct as_capture *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		process_done(&c->process[i]);
	free(c->process);
	as_buf_done(&c->points);
	as_buf_done(&c->files);
	as_blocks_out_done(&c->out);
	free(c);
}

static int begin(struct as_capture *c, const char *path, const struct as_capture_head *head,
		 bool force, struct as_err *err)
{
	int r = as_blocks_create(&c->out, path, force, err);

	if (r < 0)
		return r;
	size_t at = as_block_open(&c->out, AS_BLOCK_HEAD);
	as_enc_capture_head(&c->out.out, head);
	as_block_close(&c->out, at);
	return as_blocks_write(&c->out, err);
}

int as_capture_create(const char *path, const struct as_capture_head *head, bool force,
		      struct as_capture **ret, struct as_err *err)
{
	as_auto_capture struct as_capture *c = as_zalloc(sizeof *c);

	if (!c)
		return as_fail(err, AS_ENOMEM, "no memory to write '%s'", path);
	c->out.fd = -1;
	c->sampled = head->sample;
	c->aggregated = head->aggregated;
	c->points = c->files = AS_BUF(AS_BUF_FILE);
	c->whole_len = SUMS_LEAST;
	int r = begin(c, path, head, force, err);
	if (r == AS_OK)
		*ret = as_take(c);
	return r;
}

/* What failed is said once; from then on there is no file to write to. */
static int said(struct as_capture *c, int r)
{
	c->over |= r < 0;
	return r;
}

static int no_memory(struct as_capture *c, struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "no memory to write '%s'", c->out.path);
}

static int no_process(struct as_err *err)
{
	return as_fail(err, AS_EBUG, "a capture was told of a process that it does not have");
}

/* --- processes, names, kinds, points ---------------------------------------- */

static void put_process(struct as_capture *c, uint32_t number, const struct as_heap_process *p)
{
	size_t at = as_block_open(&c->out, AS_BLOCK_PROCESS);

	as_enc_u64(&c->out.out, number);
	as_enc_heap_process(&c->out.out, p);
	as_block_close(&c->out, at);
}

int as_capture_process(struct as_capture *c, const struct as_heap_process *p, struct as_err *err)
{
	if (c->over)
		return AS_OK;
	if (!as_grow(&c->process, &c->cap, c->n, sizeof *c->process, 8))
		return said(c, no_memory(c, err));
	struct process *new = &c->process[c->n];

	*new = (struct process){.kinds = AS_BUF(AS_BLOCKS_PIECE_MAX),
				.new_variants = AS_BUF(AS_BLOCKS_PIECE_MAX)};
	as_columns_init(&new->columns, (uint32_t)c->n);
	put_process(c, (uint32_t)c->n++, p);
	return AS_OK;
}

static int put_names(struct as_capture *c, uint32_t process, const struct as_buf *names,
		     struct as_err *err)
{
	size_t at = as_block_open(&c->out, AS_BLOCK_NAMES);

	as_enc_u64(&c->out.out, process);
	int r = as_block_pack(&c->out, names, err);
	as_block_close(&c->out, at);
	return r;
}

int as_capture_names(struct as_capture *c, uint32_t process, const struct as_heap_names *n,
		     struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOCKS_PIECE_MAX);
	bool more = true;

	if (c->over)
		return AS_OK;
	if (process >= c->n)
		return said(c, no_process(err));
	while (more) {
		as_buf_clear(&b);
		more = as_enc_names(&b, &c->process[process].told, n, AS_BLOCKS_PIECE);
		int r = b.len || b.bad ? put_names(c, process, &b, err) : AS_OK;
		if (r < 0)
			return said(c, r);
	}
	return AS_OK;
}

/* u64 how many kinds, they, u64 how many variants, they */
static int put_kinds(struct as_capture *c, uint32_t process, struct as_err *err)
{
	struct process *p = &c->process[process];
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOCKS_PIECE_MAX);

	if (!p->nkinds_new && !p->nvariants_new)
		return AS_OK;
	as_enc_u64(&b, p->nkinds_new);
	as_buf_add(&b, p->kinds.p, p->kinds.len);
	as_enc_u64(&b, p->nvariants_new);
	as_buf_add(&b, p->new_variants.p, p->new_variants.len);
	b.bad |= p->kinds.bad || p->new_variants.bad;
	size_t at = as_block_open(&c->out, AS_BLOCK_KINDS);
	as_enc_u64(&c->out.out, process);
	int r = as_block_pack(&c->out, &b, err);
	as_block_close(&c->out, at);
	as_buf_clear(&p->kinds);
	as_buf_clear(&p->new_variants);
	p->nkinds_new = p->nvariants_new = 0;
	p->kind = (struct as_heap_kind){0};
	return r;
}

int as_capture_kind(struct as_capture *c, uint32_t process, const struct as_heap_kind *k,
		    struct as_err *err)
{
	if (c->over)
		return AS_OK;
	if (process >= c->n)
		return said(c, no_process(err));
	struct process *p = &c->process[process];

	if (!as_grow(&p->size, &p->size_cap, p->nkinds, sizeof *p->size, 256))
		return said(c, no_memory(c, err));
	p->size[p->nkinds++] = k->size;
	as_enc_heap_kind(&p->kinds, k, &p->kind);
	p->kind = *k;
	p->nkinds_new++;
	return p->kinds.len < AS_BLOCKS_PIECE ? AS_OK : said(c, put_kinds(c, process, err));
}

int as_capture_point(struct as_capture *c, const struct as_heap_point *p, struct as_err *err)
{
	if (c->over)
		return AS_OK;
	as_enc_heap_point(&c->points, p, &c->point);
	as_enc_point_files(&c->files, p, &c->point);
	c->point = *p;
	c->npoints++;
	return c->points.bad || c->files.bad ? said(c, no_memory(c, err)) : AS_OK;
}

static int put_points(struct as_capture *c, struct as_err *err)
{
	if (!c->npoints)
		return AS_OK;
	size_t at = as_block_open(&c->out, AS_BLOCK_POINTS);

	as_enc_u64(&c->out.out, c->npoints);
	int r = as_block_pack(&c->out, &c->points, err);
	if (r == AS_OK)
		r = as_block_pack(&c->out, &c->files, err);
	as_block_close(&c->out, at);
	as_buf_clear(&c->points);
	as_buf_clear(&c->files);
	c->point = (struct as_heap_point){0};
	c->npoints = 0;
	return r;
}

int as_capture_rate(struct as_capture *c, const struct as_heap_rate *r, struct as_err *err)
{
	(void)err;
	if (c->over)
		return AS_OK;
	size_t at = as_block_open(&c->out, AS_BLOCK_RATE);

	as_enc_i64(&c->out.out, r->ns);
	as_enc_u64(&c->out.out, r->rate);
	as_block_close(&c->out, at);
	return AS_OK;
}

/* --- events ------------------------------------------------------------------ */

/* Kinds before the events that have them. */
static int put_events(struct as_capture *c, uint32_t process, struct as_err *err)
{
	struct process *p = &c->process[process];
	int r = put_kinds(c, process, err);

	if (r == AS_OK && p->columns.span.events)
		r = as_columns_put(&p->columns, &c->out, err);
	if (r == AS_OK && c->out.out.len > WRITE_AT)
		r = as_blocks_write(&c->out, err);
	return r;
}

static uint32_t variant(struct process *p, uint32_t kind, uint64_t rate)
{
	bool new = false;
	uint32_t number = as_variants_number(&p->variants, kind, rate, &new);

	if (!new || number == AS_NOWHERE)
		return number;
	if (!as_grow(&p->variant_size, &p->variant_cap, number, sizeof *p->variant_size, 64))
		return AS_NOWHERE;
	p->variant_size[number] = p->size[kind];
	as_enc_u64(&p->new_variants, kind);
	as_enc_u64(&p->new_variants, rate);
	p->nvariants_new++;
	return number;
}

/* Under the number of its variant. */
static int add_sampled(struct process *p, const struct as_heap_event *e)
{
	struct as_heap_event as = *e;

	as.kind = variant(p, e->kind, e->rate);
	if (as.kind == AS_NOWHERE)
		return AS_ENOMEM;
	if (e->what == AS_HEAP_THINNED) {
		uint32_t then = e->becomes ? variant(p, e->kind, e->becomes) : 0;

		if (then == AS_NOWHERE)
			return AS_ENOMEM;
		as.bytes = e->becomes ? (uint64_t)then + 1 : 0;
	}
	return as_columns_event(&p->columns, &as, p->variant_size[as.kind], p->variants.n);
}

/* What was added may have made the block full. */
static int added(struct as_capture *c, uint32_t process, int r, struct as_err *err)
{
	if (r == AS_ENOMEM)
		return said(c, no_memory(c, err));
	if (r < 0)
		return said(c, as_fail(err, r, "a capture was told of an event that cannot be"));
	if (c->process[process].columns.span.events < AS_COLUMNS_EVENTS)
		return AS_OK;
	return said(c, put_events(c, process, err));
}

int as_capture_event(struct as_capture *c, uint32_t process, const struct as_heap_event *e,
		     struct as_err *err)
{
	if (c->over || c->aggregated)
		return AS_OK;
	if (process >= c->n)
		return said(c, no_process(err));
	struct process *p = &c->process[process];
	int r = AS_EBUG;

	if (e->kind < p->nkinds)
		r = c->sampled ? add_sampled(p, e)
			       : as_columns_event(&p->columns, e, p->size[e->kind], p->nkinds);
	return added(c, process, r, err);
}

int as_capture_batch(struct as_capture *c, uint32_t process, const struct as_heap_batch *row,
		     struct as_err *err)
{
	struct as_heap_batch rest = *row, some = *row;
	int r = AS_OK;

	if (c->over || c->aggregated)
		return AS_OK;
	if (process >= c->n || c->sampled)
		return said(c, no_process(err));
	for (; rest.n && r == AS_OK; rest.at += some.n, rest.n -= some.n) {
		struct process *p = &c->process[process];
		size_t room = AS_COLUMNS_EVENTS - p->columns.span.events;

		some.at = rest.at;
		some.n = rest.n < room ? rest.n : room;
		r = added(c, process, as_columns_batch(&p->columns, &some, p->nkinds), err);
	}
	return r;
}

/* That it ended comes after all that it did: a file may be cut in between. */
int as_capture_ended(struct as_capture *c, uint32_t process, const struct as_heap_process *p,
		     struct as_err *err)
{
	if (c->over)
		return AS_OK;
	if (process >= c->n)
		return said(c, no_process(err));
	int r = p->end_ns ? put_events(c, process, err) : AS_OK;

	if (r == AS_OK)
		put_process(c, process, p);
	return said(c, r);
}

/* --- sums -------------------------------------------------------------------- */

static bool remember(struct process *p, uint32_t kind, const struct as_heap_sums *s)
{
	while (p->last_cap <= kind) {
		size_t before = p->last_cap;

		if (!as_grow(&p->last, &p->last_cap, before, sizeof *p->last, 256))
			return false;
		memset(p->last + before, 0, (p->last_cap - before) * sizeof *p->last);
	}
	p->last[kind] = *s;
	return true;
}

static const struct as_heap_sums nothing;

/* Of that kind: all of it, or (not `full`) only when it has changed. */
static bool put_sum(struct as_capture *c, struct process *p, uint32_t kind,
		    const struct as_heap_sums *s, bool full, struct as_buf *b, uint32_t *next)
{
	const struct as_heap_sums *was = !full && kind < p->last_cap ? &p->last[kind] : &nothing;

	if (!memcmp(s, was, sizeof *s))
		return true;
	as_enc_u64(b, kind - *next);
	as_enc_sums(b, s, p->size[kind], c->sampled);
	*next = kind + 1;
	return !c->aggregated || remember(p, kind, s);
}

/* totals, u64 kinds, then for each u64 kinds between it and the one before, its sums */
static bool put_process_sums(struct as_capture *c, struct process *p, const struct as_tracker *t,
			     bool full, struct as_buf *b)
{
	as_auto_buf struct as_buf sums = AS_BUF(AS_BLOCKS_MAX);
	struct as_heap_totals totals;
	uint32_t next = 0;
	size_t n = 0;

	as_tracker_totals(t, &totals);
	as_enc_totals(b, &totals);
	for (uint32_t k = 0; k < as_tracker_kinds(t) && k < p->nkinds; k++) {
		struct as_heap_sums s;
		size_t before = sums.len;

		as_tracker_sums(t, k, &s);
		if (!put_sum(c, p, k, &s, full, &sums, &next))
			return false;
		n += sums.len > before;
	}
	as_enc_u64(b, n);
	as_buf_add(b, sums.p, sums.len);
	return !sums.bad;
}

static int put_sums(struct as_capture *c, int64_t ns, const struct as_capture_sums *s, bool full,
		    struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BLOCKS_MAX);
	size_t before = c->out.out.len;

	as_enc_totals(&b, &s->combined);
	as_enc_rss(&b, &s->at_peak);
	as_enc_u64(&b, s->n < c->n ? s->n : c->n);
	for (size_t i = 0; i < s->n && i < c->n; i++)
		if (!put_process_sums(c, &c->process[i], s->tracker[i], full, &b))
			return no_memory(c, err);
	as_enc_i64(&b, s->at_peak.own);
	size_t at = as_block_open(&c->out, AS_BLOCK_SUMS);
	as_enc_i64(&c->out.out, ns);
	as_enc_u64(&c->out.out, full);
	int r = as_block_pack(&c->out, &b, err);
	as_block_close(&c->out, at);
	int64_t len = (int64_t)(c->out.out.len - before);
	c->sums_ns = ns + len * SUMS_NS_A_BYTE;
	c->summed = true;
	if (full) {
		c->whole_at = c->out.size + (int64_t)c->out.out.len;
		c->whole_len = len > SUMS_LEAST ? len : SUMS_LEAST;
	}
	return r;
}

static int sums_now_and_then(struct as_capture *c, int64_t ns, const struct as_capture_sums *s,
			     struct as_err *err)
{
	int64_t since = c->out.size + (int64_t)c->out.out.len - c->whole_at;

	if (!c->aggregated)
		return since < c->whole_len * SUMS_PART ? AS_OK : put_sums(c, ns, s, true, err);
	if (ns < c->sums_ns)
		return AS_OK;
	return put_sums(c, ns, s, !c->whole_at || since > c->whole_len, err);
}

/* --- now and then ------------------------------------------------------------ */

static int put_all_events(struct as_capture *c, struct as_err *err)
{
	int r = AS_OK;

	for (uint32_t i = 0; i < c->n && r == AS_OK; i++)
		r = put_events(c, i, err);
	return r;
}

/* The curve comes after what it was drawn from: without events that is the sums. */
static int put_curve(struct as_capture *c, struct as_err *err)
{
	bool due = !c->aggregated || c->summed;

	c->summed = false;
	return due ? put_points(c, err) : AS_OK;
}

int as_capture_flush(struct as_capture *c, int64_t ns, const struct as_capture_sums *s,
		     struct as_err *err)
{
	if (c->over)
		return AS_OK;
	int r = put_all_events(c, err);
	if (r == AS_OK)
		r = sums_now_and_then(c, ns, s, err);
	if (r == AS_OK)
		r = put_curve(c, err);
	if (r == AS_OK && c->out.out.len)
		r = as_blocks_write(&c->out, err);
	return said(c, r);
}

static void put_end(struct as_capture *c, int64_t ns)
{
	size_t at = as_block_open(&c->out, AS_BLOCK_END);

	as_enc_u64(&c->out.out, 0);
	as_enc_i64(&c->out.out, ns);
	as_block_close(&c->out, at);
}

int as_capture_close(struct as_capture *c, int64_t ns, const struct as_capture_sums *s,
		     struct as_err *err)
{
	if (c->over)
		return AS_OK;
	int r = put_all_events(c, err);
	if (r == AS_OK)
		r = put_sums(c, ns, s, true, err);
	if (r == AS_OK)
		r = put_points(c, err);
	if (r == AS_OK) {
		put_end(c, ns);
		r = as_blocks_write(&c->out, err);
	}
	c->over = true;
	return r;
}
