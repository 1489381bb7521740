/* A view of a heap by function: with what it called, itself, how often. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"
#include "report/heap_view_json.h"
#include "report/table.h"

struct function {
	uint32_t place; /* 0: nothing of it was found */
	int64_t total, own, count;
	int64_t spread, own_spread; /* variances of the first two */
};

struct functions {
	const struct as_profile *p;
	const struct as_heap_how *how;
	struct as_heap_kinds kinds;
	struct function *at; /* by place, then in order */
	size_t n;
	size_t which[8]; /* of all columns, those that are shown */
	int64_t all;     /* bytes of the whole; without bytes, allocations */
};

static bool has_bytes(const struct functions *f)
{
	return f->kinds.bytes != AS_HEAP_NO_KIND;
}

static size_t shown(const struct functions *f)
{
	return f->n < f->how->rows ? f->n : f->how->rows;
}

static void functions_done(struct functions *f)
{
	free(f->at);
}

/* ── what each has ────────────────────────────────────────────────────── */

static void take_bytes(struct function *f, const struct as_function_sum *s)
{
	f->total = s->total;
	f->own = s->self;
}

static void take_count(struct function *f, const struct as_function_sum *s)
{
	f->count = s->total;
}

static void take_variance(struct function *f, const struct as_function_sum *s)
{
	f->spread = s->total;
	f->own_spread = s->self;
}

static int take(struct functions *f, size_t kind,
		void (*one)(struct function *f, const struct as_function_sum *s),
		struct as_err *err)
{
	as_auto_free struct as_function_sum *sum = NULL;
	size_t n = 0;
	int r = kind == AS_HEAP_NO_KIND ? AS_OK : as_profile_sums(f->p, kind, &sum, &n, err);

	for (size_t i = 0; r == AS_OK && i < n; i++) {
		f->at[sum[i].place].place = sum[i].place;
		one(&f->at[sum[i].place], &sum[i]);
	}
	return r;
}

/* What has no stack is nobody's: a row of its own, behind the others. */
static void add_unknown(struct functions *f)
{
	struct function *last = &f->at[f->n];

	*last = (struct function){0};
	for (size_t i = 0; i < f->p->nsamples; i++) {
		const struct as_sample *s = &f->p->sample[i];

		if (s->stack)
			continue;
		last->own = as_value_plus(last->own, as_heap_value(s, f->kinds.bytes));
		last->count = as_value_plus(last->count, as_heap_value(s, f->kinds.count));
		last->own_spread =
			as_value_plus(last->own_spread, as_heap_value(s, f->kinds.variance));
	}
	last->total = last->own;
	last->spread = last->own_spread;
	f->n += last->own || last->count;
}

static int count(struct functions *f, struct as_err *err)
{
	f->at = as_zalloc_n(f->p->nplaces, sizeof *f->at);
	if (!f->at)
		return as_fail(err, AS_ENOMEM, "no memory to sum by function");
	int r = take(f, f->kinds.bytes, take_bytes, err);
	if (r == AS_OK)
		r = take(f, f->kinds.count, take_count, err);
	if (r == AS_OK)
		r = take(f, f->kinds.variance, take_variance, err);
	for (size_t i = 1; i < f->p->nplaces; i++)
		if (f->at[i].place)
			f->at[f->n++] = f->at[i];
	add_unknown(f);
	return r;
}

/* ── in order ─────────────────────────────────────────────────────────── */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_total(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int r = compare(y->total, x->total);

	r = r ? r : compare(y->own, x->own);
	r = r ? r : compare(y->count, x->count);
	return r ? r : compare(x->place, y->place);
}

static int by_own(const void *a, const void *b)
{
	int r = compare(((const struct function *)b)->own, ((const struct function *)a)->own);

	return r ? r : by_total(a, b);
}

static int by_count(const void *a, const void *b)
{
	int r = compare(((const struct function *)b)->count, ((const struct function *)a)->count);

	return r ? r : by_total(a, b);
}

static void put_in_order(struct functions *f)
{
	static int (*const orders[])(const void *, const void *) = {
		[AS_HEAP_TOTAL] = by_total, [AS_HEAP_OWN] = by_own, [AS_HEAP_COUNT] = by_count};

	if (f->n)
		qsort(f->at, f->n, sizeof *f->at, has_bytes(f) ? orders[f->how->sort] : by_count);
}

/* ── the table ────────────────────────────────────────────────────────── */

enum { TOTAL, TOTAL_SHARE, OWN, OWN_SHARE, COUNT, COUNT_SHARE, NAME, WHERE, COLS };

/* Where there are no bytes, counts have the share; where there are no counts, only bytes stand. */
static bool is_shown(const struct as_heap_kinds *k, size_t col)
{
	if (col == COUNT)
		return k->count != AS_HEAP_NO_KIND;
	if (col == COUNT_SHARE)
		return k->bytes == AS_HEAP_NO_KIND;
	return col > COUNT || k->bytes != AS_HEAP_NO_KIND;
}

static void cell(const void *data, size_t row, size_t which, struct as_buf *cell)
{
	const struct functions *f = data;
	size_t col = f->which[which];
	const struct function *x = &f->at[row];
	const struct as_place *at = &f->p->place[x->place];

	if (col == TOTAL)
		as_put_kind_bytes(cell, &f->kinds, x->total, x->spread);
	else if (col == TOTAL_SHARE)
		as_put_share(cell, x->total, f->all);
	else if (col == OWN)
		as_put_kind_bytes(cell, &f->kinds, x->own, x->own_spread);
	else if (col == OWN_SHARE)
		as_put_share(cell, x->own, f->all);
	else if (col == COUNT)
		as_put_kind_count(cell, &f->kinds, x->count);
	else if (col == COUNT_SHARE)
		as_put_share(cell, x->count, f->all);
	else if (col == NAME)
		as_buf_str(cell, x->place ? f->p->text[at->function] : AS_HEAP_NO_STACK);
	else
		as_put_heap_where(cell, f->p, x->place, at->begin, &f->how->spell);
}

static void put_table(struct as_buf *out, const struct as_look *look, struct functions *f)
{
	static const struct as_column all[COLS] = {
		[TOTAL] = {.title = "total", .right = true},
		[TOTAL_SHARE] = {.title = "", .right = true},
		[OWN] = {.title = "own", .right = true},
		[OWN_SHARE] = {.title = "", .right = true, .spare = 1},
		[COUNT] = {.title = "count", .right = true},
		[COUNT_SHARE] = {.title = "", .right = true},
		[NAME] = {.title = "function", .min = 14},
		[WHERE] = {.title = "where", .min = 12, .path = true, .spare = 2},
	};
	struct as_column cols[COLS];
	size_t from = out->len, ncols = 0;

	for (size_t i = 0; i < COLS; i++)
		if (is_shown(&f->kinds, i)) {
			f->which[ncols] = i;
			cols[ncols++] = all[i];
		}
	as_put_heap_title(out, look, f->p, f->how);
	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = ncols,
					.nrows = shown(f),
					.data = f,
					.cell = cell});
	as_put_unlisted(out, f->n, f->how->rows);
	as_page_end(out, look, from);
}

/* ── the document ─────────────────────────────────────────────────────── */

static void put_function(struct as_json *j, const struct functions *f, const struct function *x)
{
	as_json_open(j, NULL, '{');
	as_json_view_place(j, f->p, x->place, "first_line", f->p->place[x->place].begin);
	as_json_view_bytes(j, "total_bytes", &f->kinds, x->total, x->spread);
	as_json_view_bytes(j, "own_bytes", &f->kinds, x->own, x->own_spread);
	as_json_view_count(j, &f->kinds, x->count);
	as_json_close(j);
}

static void put_json(struct as_buf *out, const struct functions *f)
{
	struct as_json j = as_json_pretty(out);

	as_json_view_begin(&j, "assay/heap-summary/1", f->p, f->how);
	as_json_i64(&j, "unlisted", (int64_t)(f->n - shown(f)));
	as_json_open(&j, "functions", '[');
	for (size_t i = 0; i < shown(f); i++)
		put_function(&j, f, &f->at[i]);
	as_json_close(&j);
	as_json_close(&j);
}

int as_report_heap_summary(struct as_buf *out, const struct as_look *look,
			   const struct as_profile *p, const struct as_heap_how *how,
			   struct as_err *err)
{
	as_cleanup(functions_done) struct functions f = {.p = p,
							 .how = how,
							 .kinds = as_heap_kinds(p, how->rate)};
	int r = count(&f, err);

	if (r < 0)
		return r;
	put_in_order(&f);
	f.all = as_heap_total(p, has_bytes(&f) ? f.kinds.bytes : f.kinds.count);
	if (how->json)
		put_json(out, &f);
	else
		put_table(out, look, &f);
	return AS_OK;
}
