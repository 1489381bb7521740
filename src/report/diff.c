#include "report/diff.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/json.h"
#include "profile/diff.h"
#include "profile/functions.h"
#include "report/heap.h"
#include "report/mark.h"
#include "report/stacks.h"
#include "report/table.h"

enum { BEFORE, AFTER, CHANGE, RELATIVE, FUNCTION, WHERE, COLS };

/* On both sides; spread: variance, in the unit of its kind. */
struct amounts {
	int64_t v[2], spread[2];
};

/* A function: what it had. */
struct change {
	uint32_t place;
	struct amounts self, total;
	double by;    /* how much it changed, as it was asked for */
	double half;  /* of the 95 % interval of that             */
	int64_t most; /* the larger of both                       */
};

struct changes {
	const struct as_profile *d;
	const struct as_spelling *how;
	const struct as_diff_look *which;
	struct change *at;
	size_t n;
	struct amounts all;
	bool whole; /* those too that have nothing of what is compared */
};

#define CANNOT_TELL "no difference that the samples can tell"

static void changes_done(struct changes *c)
{
	free(c->at);
}

/* ── what changed ─────────────────────────────────────────────────────── */

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static const struct amounts *amounts(const struct changes *c, const struct change *x)
{
	return c->which->total ? &x->total : &x->self;
}

static double change_of(const struct changes *c, const int64_t v[2], bool shares)
{
	if (shares)
		return share(v[AS_AFTER], c->all.v[AS_AFTER]) -
		       share(v[AS_BEFORE], c->all.v[AS_BEFORE]);
	return (double)v[AS_AFTER] - (double)v[AS_BEFORE];
}

static bool is_estimate(const struct changes *c)
{
	return c->d->nkinds > AS_BEFORE_SPREAD;
}

/* In the unit of the values, squared. */
static double variance(const struct changes *c, int64_t spread)
{
	bool kib = !strcmp(c->d->kind[AS_BEFORE_SPREAD].unit, "KiB^2");

	return (double)spread * (kib ? 1024.0 * 1024.0 : 1);
}

/* A share is a quotient of two that vary together: by the delta method. */
static double half_side(const struct changes *c, const struct amounts *a, size_t side, bool shares)
{
	double own = variance(c, a->spread[side]), all = variance(c, c->all.spread[side]);
	double part = share(a->v[side], c->all.v[side]);
	uint64_t rate = c->which->rate[side];

	if (!rate || (shares && !c->all.v[side]))
		return 0;
	if (!shares)
		return as_heap_spread(a->v[side], own, rate);
	return as_heap_spread(a->v[side], own * (1 - 2 * part) + part * part * all, rate) /
	       (double)c->all.v[side];
}

static double half_of(const struct changes *c, const struct amounts *a, bool shares)
{
	if (!is_estimate(c))
		return 0;
	return hypot(half_side(c, a, AS_BEFORE, shares), half_side(c, a, AS_AFTER, shares));
}

/* Is it more than chance? */
static bool is_told(double by, double half)
{
	return fabs(by) > half;
}

static int most_changed(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	double one = fabs(x->by), other = fabs(y->by);

	if (one < other || one > other)
		return one < other ? 1 : -1;
	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int64_t *cell_of(struct amounts *a, size_t kind)
{
	return kind < AS_BEFORE_SPREAD ? &a->v[kind] : &a->spread[kind - AS_BEFORE_SPREAD];
}

static int add_kind(struct changes *c, size_t kind, struct as_err *err)
{
	as_auto_free struct as_function_sum *sum = NULL;
	size_t n = 0;
	int r = as_profile_sums(c->d, kind, &sum, &n, err);

	for (size_t i = 0; r == AS_OK && i < n; i++) {
		struct change *x = &c->at[sum[i].place];

		x->place = sum[i].place;
		*cell_of(&x->self, kind) = sum[i].self;
		*cell_of(&x->total, kind) = sum[i].total == AS_TOTAL_UNKNOWN ? 0 : sum[i].total;
	}
	*cell_of(&c->all, kind) = as_profile_total(c->d, kind);
	return r;
}

static int gather(struct changes *c, struct as_err *err)
{
	bool shares = c->which->shares;
	int r = AS_OK;

	if (c->which->total && c->d->totals != AS_TOTALS_STACKS)
		return as_fail(err, AS_EUSAGE,
			       "--by total wants stacks; pstats and callgrind have callers alone");
	c->at = as_zalloc_n(c->d->nplaces, sizeof *c->at);
	if (!c->at)
		return as_fail(err, AS_ENOMEM, "no memory to compare profiles");
	for (size_t kind = 0; r == AS_OK && kind < c->d->nkinds; kind++)
		r = add_kind(c, kind, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->d->nplaces; i++) {
		struct change x = c->at[i];
		const struct amounts *a = amounts(c, &x);
		const int64_t *v = a->v;

		if (!x.place || (!c->whole && !v[AS_BEFORE] && !v[AS_AFTER]))
			continue;
		x.by = change_of(c, v, shares);
		x.half = half_of(c, a, shares);
		x.most = v[AS_BEFORE] > v[AS_AFTER] ? v[AS_BEFORE] : v[AS_AFTER];
		c->at[c->n++] = x;
	}
	qsort(c->at, c->n, sizeof *c->at, most_changed);
	return AS_OK;
}

/* ── as a table ───────────────────────────────────────────────────────── */

static void put_amount(const struct changes *c, double v, struct as_buf *out)
{
	const char *unit = c->d->kind[AS_BEFORE].unit;

	if (!strcmp(unit, "nanoseconds"))
		as_put_duration(out, (int64_t)v);
	else if (!strcmp(unit, "bytes"))
		as_put_bytes(out, v);
	else
		as_put_count(out, v);
}

static void put_side(const struct changes *c, const int64_t v[2], size_t side, struct as_buf *out)
{
	if (c->which->shares)
		as_put_percent(out, share(v[side], c->all.v[side]));
	else
		put_amount(c, (double)v[side], out);
}

static void put_size(const struct changes *c, double by, struct as_buf *out)
{
	if (c->which->shares)
		as_put_percent(out, by);
	else
		put_amount(c, by, out);
}

/* "+3.12 MiB", or with an interval "+3.12 MiB ± 410 KiB". */
static void put_change(const struct changes *c, const struct change *x, struct as_buf *out)
{
	if (x->by < 0 || x->by > 0)
		as_buf_byte(out, x->by < 0 ? '-' : '+');
	put_size(c, fabs(x->by), out);
	if (!is_estimate(c))
		return;
	as_buf_str(out, " ± ");
	put_size(c, x->half, out);
}

static void put_relative(const int64_t v[2], double by, struct as_buf *out)
{
	if (!v[AS_BEFORE] || !v[AS_AFTER]) {
		as_buf_str(out, v[AS_AFTER] ? "new" : v[AS_BEFORE] ? "gone" : "-");
		return;
	}
	if (by < 0 || by > 0)
		as_buf_byte(out, by < 0 ? '-' : '+');
	as_put_percent(out, fabs(by));
}

/* By how much of what it was before. */
static double relative(const struct changes *c, const int64_t v[2])
{
	double before =
		c->which->shares ? share(v[AS_BEFORE], c->all.v[AS_BEFORE]) : (double)v[AS_BEFORE];

	return before ? change_of(c, v, c->which->shares) / before : 0;
}

static bool is_unclear(const struct changes *c, const struct change *x)
{
	return is_estimate(c) && !is_told(x->by, x->half);
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct changes *c = data;
	const struct change *x = &c->at[row];
	const struct as_place *at = &c->d->place[x->place];
	const int64_t *v = amounts(c, x)->v;

	if (col == BEFORE || col == AFTER)
		put_side(c, v, col == BEFORE ? AS_BEFORE : AS_AFTER, out);
	else if (col == CHANGE)
		put_change(c, x, out);
	else if (col == RELATIVE && is_unclear(c, x))
		as_buf_str(out, "unclear");
	else if (col == RELATIVE)
		put_relative(v, relative(c, v), out);
	else if (col == FUNCTION)
		as_put_marked(out, c->d, x->place, c->how);
	else if (at->file && at->begin)
		as_buf_fmt(out, "%s:%d", as_spell_file(c->d, at, c->how), at->begin);
	else if (at->file)
		as_buf_str(out, as_spell_file(c->d, at, c->how));
}

static enum as_ink ink(const void *data, size_t row, size_t col)
{
	const struct changes *c = data;

	if (col == FUNCTION)
		return as_mark_ink(c->d, c->at[row].place, c->how);
	if ((col != CHANGE && col != RELATIVE) || is_unclear(c, &c->at[row]))
		return AS_INK_NONE;
	return c->at[row].by > 0 ? AS_RED : c->at[row].by < 0 ? AS_GREEN : AS_INK_NONE;
}

static void put_all(const struct changes *c, struct as_buf *out)
{
	const int64_t *all = c->all.v;
	double by = change_of(c, all, false), half = half_of(c, &c->all, false);

	if (strcmp(c->which->metric, c->d->kind[AS_BEFORE].unit) != 0) /* "59 MiB" says it */
		as_buf_fmt(out, "%s: ", c->which->metric);
	as_buf_str(out, "in all ");
	put_amount(c, (double)all[AS_BEFORE], out);
	as_buf_str(out, " before, ");
	put_amount(c, (double)all[AS_AFTER], out);
	as_buf_str(out, " after: ");
	if (is_estimate(c) && !is_told(by, half))
		as_buf_str(out, CANNOT_TELL);
	else
		put_relative(all, all[AS_BEFORE] ? by / (double)all[AS_BEFORE] : 0, out);
	if (is_estimate(c) && is_told(by, half)) {
		as_buf_str(out, ", ± ");
		put_amount(c, half, out);
	}
	as_buf_byte(out, '\n');
}

static void put_takings(const struct changes *c, struct as_buf *out)
{
	static const char *const side[] = {[AS_BEFORE] = "before: ", [AS_AFTER] = "after: "};

	for (size_t i = 0; i < AS_LEN(side); i++) {
		if (!c->which->taking[i].known)
			continue;
		as_buf_str(out, side[i]);
		as_put_taking(out, &c->which->taking[i]);
		as_buf_byte(out, '\n');
	}
}

static void put_rows(const struct changes *c, const struct as_look *look, struct as_buf *out)
{
	static const struct as_column cols[COLS] = {
		[BEFORE] = {.title = "before", .right = true},
		[AFTER] = {.title = "after", .right = true},
		[CHANGE] = {.title = "change", .right = true},
		[RELATIVE] = {.title = "relative", .right = true},
		[FUNCTION] = {.title = "function", .min = 16},
		[WHERE] = {.title = "where", .min = 12, .path = true},
	};
	size_t most = c->which->rows;

	as_put_table(out, look,
		     &(struct as_table){.cols = cols,
					.ncols = COLS,
					.nrows = c->n < most ? c->n : most,
					.data = c,
					.cell = cell,
					.ink = ink});
	if (c->n > most)
		as_buf_fmt(out, "and %zu more functions\n", c->n - most);
	if (is_estimate(c))
		as_buf_str(out, "± is half of a 95 % interval; unclear: " CANNOT_TELL "\n");
}

static bool has_news(const struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_told(c->at[i].by, c->at[i].half))
			return true;
	return false;
}

int as_put_diff(struct as_buf *out, const struct as_look *look, const struct as_profile *d,
		const struct as_spelling *how, const struct as_diff_look *which, struct as_err *err)
{
	as_cleanup(changes_done) struct changes c = {.d = d, .how = how, .which = which};
	int r = gather(&c, err);

	if (r < 0)
		return r;
	if (has_news(&c))
		put_rows(&c, look, out);
	else
		as_buf_str(out, is_estimate(&c) ? CANNOT_TELL "\n" : "no difference\n");
	put_all(&c, out);
	put_takings(&c, out);
	return AS_OK;
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static void put_ratio(struct as_json *j, const char *key, double part, double whole)
{
	if (whole > 0 || whole < 0)
		as_json_f64(j, key, part / whole);
	else
		as_json_na(j, key);
}

static void put_values(struct as_json *j, const char *key, const struct changes *c,
		       const struct amounts *a)
{
	const int64_t *v = a->v;
	double by = change_of(c, v, false), half = half_of(c, a, false);

	as_json_open(j, key, '{');
	as_json_i64(j, "before", v[AS_BEFORE]);
	as_json_i64(j, "after", v[AS_AFTER]);
	as_json_f64(j, "change", by);
	put_ratio(j, "relative", by, (double)v[AS_BEFORE]);
	put_ratio(j, "share_before", (double)v[AS_BEFORE], (double)c->all.v[AS_BEFORE]);
	put_ratio(j, "share_after", (double)v[AS_AFTER], (double)c->all.v[AS_AFTER]);
	if (is_estimate(c)) {
		as_json_f64(j, "change_95", half);
		as_json_bool(j, "differs", is_told(by, half));
	}
	as_json_close(j);
}

static void put_function(struct as_json *j, const struct changes *c, const struct change *x)
{
	const struct as_place *at = &c->d->place[x->place];

	as_json_open(j, NULL, '{');
	as_json_str(j, "function", c->d->text[at->function]);
	as_json_str(j, "file", at->file ? c->d->text[at->file] : NULL);
	if (at->begin)
		as_json_i64(j, "first_line", at->begin);
	else
		as_json_na(j, "first_line");
	put_values(j, "self", c, &x->self);
	if (c->d->totals == AS_TOTALS_STACKS)
		put_values(j, "total", c, &x->total);
	else
		as_json_na(j, "total");
	as_json_mark(j, c->d, x->place, c->how);
	as_json_close(j);
}

int as_report_diff_json(struct as_buf *out, const struct as_profile *d,
			const struct as_spelling *how, const struct as_diff_look *which,
			struct as_err *err)
{
	as_cleanup(changes_done) struct changes c = {.d = d,
						     .how = how,
						     .which = which,
						     .whole = true};
	struct as_json j = as_json_pretty(out);
	int r = gather(&c, err);

	if (r < 0)
		return r;
	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/diff/1");
	as_json_str(&j, "metric", which->metric);
	as_json_str(&j, "unit", d->kind[AS_BEFORE].unit);
	as_json_open(&j, "sampling", '{');
	as_put_taking_json(&j, "before", &which->taking[AS_BEFORE]);
	as_put_taking_json(&j, "after", &which->taking[AS_AFTER]);
	as_json_close(&j);
	put_values(&j, "all", &c, &c.all);
	as_json_open(&j, "functions", '[');
	for (size_t i = 0; i < c.n; i++)
		put_function(&j, &c, &c.at[i]);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
	return AS_OK;
}
