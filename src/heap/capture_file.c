#include "heap/capture_file.h"

#include "base/fault.h"
#include "heap/parts.h"

static void process_done(struct as_file_process *p)
{
	free(p->facts.command);
	as_heap_names_done(&p->names);
	free(p->kind);
	as_variants_done(&p->variants);
	free(p->span);
}

void as_file_done(struct as_file *f)
{
	for (size_t i = 0; i < f->nprocesses; i++)
		process_done(&f->process[i]);
	free(f->process);
	free(f->sums);
	free(f->point);
	free((char *)(uintptr_t)f->head.command);
	as_blocks_in_done(&f->in);
	*f = (struct as_file){.in.fd = -1};
}

/* --- each type of block ------------------------------------------------------- */

static void *no_room(struct as_bytes *b)
{
	b->nomem = b->bad = true;
	return NULL;
}

static void seen(struct as_file *f, int64_t ns)
{
	if (ns > f->end_ns)
		f->end_ns = ns;
}

/* The process that a block is of. */
static struct as_file_process *of_process(struct as_file *f, struct as_bytes *b)
{
	uint64_t i = as_dec_below(b, f->nprocesses);

	return b->bad ? NULL : &f->process[i];
}

/* A packed body as bytes of its own. */
static int unpacked(struct as_file *f, struct as_bytes *b, struct as_buf *plain,
		    struct as_bytes *ret, struct as_err *err)
{
	int r = as_block_unpack(&f->in, b, plain, err);

	*ret = as_bytes(plain->p, plain->len);
	return r;
}

static int get_head(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	if (f->has_head)
		return as_fail(err, AS_EFORMAT, "the capture has two heads");
	f->has_head = true;
	int r = as_dec_capture_head(b, &f->head, err);
	f->end_ns = f->head.start_ns;
	return r;
}

static int get_process(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	uint64_t i = as_dec_below(b, (uint64_t)f->nprocesses + 1);

	if (!b->bad && i == f->nprocesses) {
		if (as_grow(&f->process, &f->process_cap, i, sizeof *f->process, 8))
			f->process[f->nprocesses++] = (struct as_file_process){0};
		else
			(void)no_room(b);
	}
	if (!b->bad) {
		struct as_heap_process *p = &f->process[i].facts;

		free(p->command);
		as_dec_heap_process(b, p);
		seen(f, p->start_ns);
		seen(f, p->end_ns);
	}
	return as_bytes_ok(b, "a process of the capture", err);
}

static int get_names(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BLOCKS_PIECE_MAX);
	struct as_file_process *p = of_process(f, b);
	struct as_bytes names;

	int r = p ? unpacked(f, b, &plain, &names, err) : as_bytes_ok(b, "a block of names", err);
	if (r < 0)
		return r;
	as_dec_names(&names, &p->names);
	return as_bytes_ok(&names, "a block of names", err);
}

static void add_kinds(struct as_file_process *p, struct as_bytes *b)
{
	struct as_heap_kind kind = {0};

	for (size_t n = as_dec_count(b, 5); n && !b->bad; n--) {
		as_dec_heap_kind(b, &kind);
		if (!as_grow(&p->kind, &p->kind_cap, p->nkinds, sizeof kind, 256))
			(void)no_room(b);
		else
			p->kind[p->nkinds++] = kind;
	}
	for (size_t n = as_dec_count(b, 2); n && !b->bad; n--) {
		uint32_t number = (uint32_t)as_dec_below(b, p->nkinds);
		uint64_t rate = as_dec_u64(b);

		if (!b->bad && !as_variants_add(&p->variants, number, rate))
			(void)no_room(b);
	}
}

static int get_kinds(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BLOCKS_PIECE_MAX);
	struct as_file_process *p = of_process(f, b);
	struct as_bytes kinds;

	int r = p ? unpacked(f, b, &plain, &kinds, err) : as_bytes_ok(b, "a block of kinds", err);
	if (r < 0)
		return r;
	add_kinds(p, &kinds);
	return as_bytes_ok(&kinds, "a block of kinds", err);
}

/* A block of events that is not all there, or of another length, ends the file before its span. */
static int get_span(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	struct as_file_span s = {.at = f->in.at};

	as_dec_event_span(b, &s.span);
	if (b->bad || s.span.process >= f->nprocesses)
		return as_fail(err, AS_EFORMAT, "a block of events is damaged");
	struct as_file_process *p = &f->process[s.span.process];
	int r = as_block_pass(&f->in, s.span.payload, err);
	if (r <= 0)
		return r;
	if (!as_grow(&p->span, &p->span_cap, p->nspans, sizeof *p->span, 16))
		return as_fail(err, AS_ENOMEM, "no memory to read the capture");
	p->span[p->nspans++] = s;
	f->events_at = s.at;
	seen(f, s.span.until_ns);
	return AS_OK;
}

/* Of the last `n` points; older captures have no such part. */
static int get_files(struct as_file *f, struct as_bytes *b, size_t n, struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BLOCKS_PIECE_MAX);
	struct as_bytes files;
	struct as_heap_point point = {0};

	if (!as_bytes_left(b))
		return AS_OK;
	int r = unpacked(f, b, &plain, &files, err);
	if (r < 0)
		return r;
	for (size_t i = f->npoints - n; i < f->npoints && !files.bad; i++) {
		as_dec_point_files(&files, &point);
		f->point[i].file = point.file;
		f->point[i].mapped = point.mapped;
	}
	return as_bytes_ok(&files, "the curve of files", err);
}

static int get_points(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BLOCKS_PIECE_MAX);
	struct as_heap_point point = {0};
	struct as_bytes points;
	uint64_t n = as_dec_u64(b);
	size_t before = f->npoints;

	int r = unpacked(f, b, &plain, &points, err);
	if (r < 0)
		return r;
	for (; n && !points.bad; n--) {
		as_dec_heap_point(&points, &point);
		point.file = point.mapped = -1;
		points.bad |= point.process >= f->nprocesses;
		if (!as_grow(&f->point, &f->point_cap, f->npoints, sizeof point, 256))
			(void)no_room(&points);
		if (!points.bad)
			f->point[f->npoints++] = point;
	}
	seen(f, point.ns);
	r = as_bytes_ok(&points, "the curve", err);
	return r < 0 ? r : get_files(f, b, f->npoints - before, err);
}

static int get_sums(struct as_file *f, struct as_bytes *b, int64_t at, struct as_err *err)
{
	struct as_file_sums s = {.at = at, .ns = as_dec_i64(b)};

	s.full = as_dec_u64(b) & 1;
	if (!f->nsums && !s.full)
		b->bad = true; /* there is nothing that they could differ from */
	int r = as_bytes_ok(b, "a block of sums", err);
	if (r < 0)
		return r;
	if (!as_grow(&f->sums, &f->sums_cap, f->nsums, sizeof s, 16))
		return as_fail(err, AS_ENOMEM, "no memory to read the capture");
	f->sums[f->nsums++] = s;
	seen(f, s.ns);
	return AS_OK;
}

/* Of a capture that is not sampled, or more often than can be, it is nonsense. */
static int get_rate(struct as_file *f, struct as_bytes *b, struct as_err *err)
{
	struct as_heap_rate r = {.ns = as_dec_i64(b), .rate = as_dec_u64(b)};

	b->bad |= !f->head.sample || !r.rate || f->nraised >= AS_HEAP_RATES;
	if (!b->bad)
		f->raised[f->nraised++] = r;
	return as_bytes_ok(b, "a rate of samples", err);
}

static int get_end(struct as_file *f, struct as_bytes *b)
{
	f->full = as_dec_u64(b);
	f->closed = true;
	if (!f->full)
		seen(f, as_dec_i64(b));
	return AS_OK;
}

/* --- all of them --------------------------------------------------------------- */

static int get_block(struct as_file *f, int type, struct as_bytes *b, int64_t at,
		     struct as_err *err)
{
	if (!f->has_head && type != AS_BLOCK_HEAD)
		return as_fail(err, AS_EFORMAT, "the capture has no head");
	switch (type) {
	case AS_BLOCK_HEAD:
		return get_head(f, b, err);
	case AS_BLOCK_PROCESS:
		return get_process(f, b, err);
	case AS_BLOCK_NAMES:
		return get_names(f, b, err);
	case AS_BLOCK_KINDS:
		return get_kinds(f, b, err);
	case AS_BLOCK_SPAN:
		return get_span(f, b, err);
	case AS_BLOCK_POINTS:
		return get_points(f, b, err);
	case AS_BLOCK_RATE:
		return get_rate(f, b, err);
	case AS_BLOCK_SUMS:
		return get_sums(f, b, at, err);
	case AS_BLOCK_END:
		return get_end(f, b);
	default:
		return AS_OK; /* of a newer assay */
	}
}

static int get_blocks(struct as_file *f, struct as_err *err)
{
	while (!f->closed && f->in.end == AS_BLOCKS_GO_ON) {
		int64_t at = f->in.at;
		struct as_bytes b;
		int type = as_block_next(&f->in, &b, err);

		int r = type > 0 ? get_block(f, type, &b, at, err) : type;
		if (r < 0)
			return as_err_wrap(err, "at byte %lld", (long long)at);
	}
	if (f->in.end == AS_BLOCKS_BAD)
		return as_fail(err, AS_EFORMAT, "at byte %lld: a checksum is wrong",
			       (long long)f->in.at);
	return AS_OK;
}

/* Of a file that was cut and has no events, sums are all that is known: it ends with them. */
static void end_with_sums(struct as_file *f)
{
	if (f->head.aggregated && f->nsums && (!f->closed || f->full))
		f->end_ns = f->sums[f->nsums - 1].ns;
}

static bool can_go_on(const struct as_file *f, int r, bool partial)
{
	return r == AS_OK || (partial && r == AS_EFORMAT && f->has_head);
}

int as_file_open(struct as_file *f, const char *path, bool partial, struct as_err *err)
{
	*f = (struct as_file){.in.fd = -1};
	int r = as_blocks_open(&f->in, path, err);
	if (r < 0)
		return r;
	r = get_blocks(f, err);
	if (r == AS_OK && !f->has_head)
		r = as_fail(err, AS_EFORMAT, "there is nothing in it");
	if (can_go_on(f, r, partial)) {
		end_with_sums(f);
		return AS_OK;
	}
	(void)as_err_wrap(err, "'%s'", path);
	if (r == AS_EFORMAT && f->has_head)
		return as_hint(err, "--partial reads what comes before the damage");
	return r;
}

/* --- sums ----------------------------------------------------------------------- */

void as_file_totals_done(struct as_file_totals *t)
{
	for (size_t i = 0; t->sums && i < t->n; i++)
		free(t->sums[i]);
	free(t->sums);
	free(t->process);
	*t = (struct as_file_totals){0};
}

static int make_room(const struct as_file *f, struct as_file_totals *t, struct as_err *err)
{
	t->n = f->nprocesses;
	t->process = as_zalloc_n(t->n, sizeof *t->process);
	t->sums = as_zalloc_n(t->n, sizeof *t->sums);
	bool ok = t->process && t->sums;

	for (size_t i = 0; ok && i < t->n; i++) {
		t->sums[i] = as_zalloc_n(f->process[i].nkinds, sizeof **t->sums);
		ok = t->sums[i];
	}
	return ok ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for the sums of a capture");
}

static void get_process_sums(const struct as_file *f, size_t i, struct as_bytes *b, bool full,
			     struct as_file_totals *t)
{
	const struct as_file_process *p = &f->process[i];
	uint64_t at = 0;

	if (full)
		memset(t->sums[i], 0, p->nkinds * sizeof **t->sums);
	as_dec_totals(b, &t->process[i]);
	for (size_t n = as_dec_count(b, 9); n && !b->bad; n--) {
		at += as_dec_below(b, p->nkinds);
		if (at >= p->nkinds)
			b->bad = true;
		else
			as_dec_sums(b, &t->sums[i][at], p->kind[at].size, f->head.sample);
		at++;
	}
}

static int add_sums(struct as_file *f, size_t number, struct as_file_totals *t, struct as_err *err)
{
	as_auto_buf struct as_buf plain = AS_BUF(AS_BLOCKS_MAX);
	struct as_bytes b, sums;

	f->in.at = f->sums[number].at;
	int r = as_block_next(&f->in, &b, err);
	if (r == 0)
		r = as_fail(err, AS_EIO, "the capture has changed while it was read");
	if (r < 0)
		return r;
	(void)as_dec_i64(&b);
	(void)as_dec_u64(&b);
	r = unpacked(f, &b, &plain, &sums, err);
	if (r < 0)
		return r;
	as_dec_totals(&sums, &t->combined);
	as_dec_rss(&sums, &t->at_peak);
	uint64_t n = as_dec_below(&sums, (uint64_t)f->nprocesses + 1);
	for (size_t i = 0; i < n && !sums.bad; i++)
		get_process_sums(f, i, &sums, f->sums[number].full, t);
	t->at_peak.own = as_bytes_left(&sums) ? as_dec_i64(&sums) : -1; /* an older assay's */
	return as_bytes_ok(&sums, "a block of sums", err);
}

/* The last full ones before it, and what has changed since. */
int as_file_totals(struct as_file *f, size_t sums, struct as_file_totals *ret, struct as_err *err)
{
	size_t from = sums;

	*ret = (struct as_file_totals){0};
	while (from && !f->sums[from].full)
		from--;
	int r = make_room(f, ret, err);
	for (; r == AS_OK && from <= sums; from++)
		r = add_sums(f, from, ret, err);
	if (r < 0)
		as_file_totals_done(ret);
	return r;
}
