#include "report/diff.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/json.h"
#include "profile/diff.h"
#include "profile/functions.h"
#include "report/mark.h"
#include "report/stacks.h"
#include "report/table.h"

enum { BEFORE, AFTER, CHANGE, RELATIVE, FUNCTION, WHERE, COLS };

/* A function: what it had on both sides. */
struct change {
	uint32_t place;
	int64_t self[2], total[2];
	double by;    /* how much it changed, as it was asked for */
	int64_t most; /* the larger of both                       */
};

struct changes {
	const struct as_profile *d;
	const struct as_spelling *how;
	const struct as_diff_look *which;
	struct change *at;
	size_t n;
	int64_t all[2];
	bool whole; /* those too that have nothing of what is compared */
};

static void changes_done(struct changes *c)
{
	free(c->at);
}

/* ── what changed ─────────────────────────────────────────────────────── */

static double share(int64_t part, int64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static const int64_t *values(const struct changes *c, const struct change *x)
{
	return c->which->total ? x->total : x->self;
}

static double change_of(const struct changes *c, const int64_t v[2])
{
	if (c->which->shares)
		return share(v[AS_AFTER], c->all[AS_AFTER]) -
		       share(v[AS_BEFORE], c->all[AS_BEFORE]);
	return (double)v[AS_AFTER] - (double)v[AS_BEFORE];
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

static int add_side(struct changes *c, struct change *of, size_t side, struct as_err *err)
{
	as_auto_free struct as_function_sum *sum = NULL;
	size_t n = 0;
	int r = as_profile_sums(c->d, side, &sum, &n, err);

	for (size_t i = 0; r == AS_OK && i < n; i++) {
		of[sum[i].place].place = sum[i].place;
		of[sum[i].place].self[side] = sum[i].self;
		of[sum[i].place].total[side] = sum[i].total;
	}
	c->all[side] = as_profile_total(c->d, side);
	return r;
}

static int gather(struct changes *c, struct as_err *err)
{
	c->at = as_zalloc_n(c->d->nplaces, sizeof *c->at);
	if (!c->at)
		return as_fail(err, AS_ENOMEM, "no memory to compare profiles");
	int r = add_side(c, c->at, AS_BEFORE, err);
	if (r == AS_OK)
		r = add_side(c, c->at, AS_AFTER, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < c->d->nplaces; i++) {
		struct change x = c->at[i];
		const int64_t *v = values(c, &x);

		if (!x.place || (!c->whole && !v[AS_BEFORE] && !v[AS_AFTER]))
			continue;
		x.by = change_of(c, v);
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
		as_put_percent(out, share(v[side], c->all[side]));
	else
		put_amount(c, (double)v[side], out);
}

static void put_change(const struct changes *c, double by, struct as_buf *out)
{
	if (by < 0 || by > 0)
		as_buf_byte(out, by < 0 ? '-' : '+');
	if (c->which->shares)
		as_put_percent(out, fabs(by));
	else
		put_amount(c, fabs(by), out);
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
		c->which->shares ? share(v[AS_BEFORE], c->all[AS_BEFORE]) : (double)v[AS_BEFORE];

	return before ? change_of(c, v) / before : 0;
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct changes *c = data;
	const struct change *x = &c->at[row];
	const struct as_place *at = &c->d->place[x->place];
	const int64_t *v = values(c, x);

	if (col == BEFORE || col == AFTER)
		put_side(c, v, col == BEFORE ? AS_BEFORE : AS_AFTER, out);
	else if (col == CHANGE)
		put_change(c, x->by, out);
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
	if (col != CHANGE && col != RELATIVE)
		return AS_INK_NONE;
	return c->at[row].by > 0 ? AS_RED : c->at[row].by < 0 ? AS_GREEN : AS_INK_NONE;
}

static void put_all(const struct changes *c, struct as_buf *out)
{
	double by = (double)c->all[AS_AFTER] - (double)c->all[AS_BEFORE];

	if (strcmp(c->which->metric, c->d->kind[AS_BEFORE].unit) != 0) /* "59 MiB" says it */
		as_buf_fmt(out, "%s: ", c->which->metric);
	as_buf_str(out, "in all ");
	put_amount(c, (double)c->all[AS_BEFORE], out);
	as_buf_str(out, " before, ");
	put_amount(c, (double)c->all[AS_AFTER], out);
	as_buf_str(out, " after: ");
	put_relative(c->all, c->all[AS_BEFORE] ? by / (double)c->all[AS_BEFORE] : 0, out);
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
}

int as_put_diff(struct as_buf *out, const struct as_look *look, const struct as_profile *d,
		const struct as_spelling *how, const struct as_diff_look *which, struct as_err *err)
{
	as_cleanup(changes_done) struct changes c = {.d = d, .how = how, .which = which};
	int r = gather(&c, err);

	if (r < 0)
		return r;
	if (!c.n || c.at[0].by == 0)
		as_buf_str(out, "no difference\n");
	else
		put_rows(&c, look, out);
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
		       const int64_t v[2])
{
	double by = (double)v[AS_AFTER] - (double)v[AS_BEFORE];

	as_json_open(j, key, '{');
	as_json_i64(j, "before", v[AS_BEFORE]);
	as_json_i64(j, "after", v[AS_AFTER]);
	as_json_f64(j, "change", by);
	put_ratio(j, "relative", by, (double)v[AS_BEFORE]);
	put_ratio(j, "share_before", (double)v[AS_BEFORE], (double)c->all[AS_BEFORE]);
	put_ratio(j, "share_after", (double)v[AS_AFTER], (double)c->all[AS_AFTER]);
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
	put_values(j, "self", c, x->self);
	put_values(j, "total", c, x->total);
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
	put_values(&j, "all", &c, c.all);
	as_json_open(&j, "functions", '[');
	for (size_t i = 0; i < c.n; i++)
		put_function(&j, &c, &c.at[i]);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
	return AS_OK;
}
