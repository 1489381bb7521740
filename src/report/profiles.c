#include "report/profiles.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/human.h"
#include "base/json.h"
#include "report/hot.h"
#include "report/known.h"
#include "report/record.h"
#include "report/stacks.h"
#include "report/table.h"

enum { HOT = 15, SPARK = 40 };

/* ── text ─────────────────────────────────────────────────────────────── */

enum { ID, SERVICE, VERSION, WHEN, TOOK, CPU, SAMPLES, SELF, TOTAL, COLS };

static const struct as_column columns[COLS] = {
	[ID] = {.title = "profile"},
	[SERVICE] = {.title = "service", .min = 6},
	[VERSION] = {.title = "version", .min = 6, .path = true, .spare = 2},
	[WHEN] = {.title = "when"},
	[TOOK] = {.title = "took", .right = true, .spare = 1},
	[CPU] = {.title = "CPU", .right = true},
	[SAMPLES] = {.title = "samples", .right = true, .spare = 3},
	[SELF] = {.title = "self", .right = true},
	[TOTAL] = {.title = "total", .right = true},
};

/* Of one core, as the run knows it; NaN: it does not. */
static double utilisation(const struct as_listing *l)
{
	return l->cpu_ns == AS_NA || l->duration_ns <= 0
		       ? NAN
		       : (double)l->cpu_ns / (double)l->duration_ns;
}

static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : NAN;
}

/* Of the function that was asked for. NaN: no sample tells. */
static double share_in(const struct as_profile_row *r, int64_t part)
{
	return r->it.samples > 0 ? share(part, r->named.of) : NAN;
}

static void cell(const void *data, size_t row, size_t col, struct as_buf *out)
{
	const struct as_profile_row *r = (const struct as_profile_row *)data + row;
	const struct as_listing *l = &r->it.run;

	if (col == ID)
		as_buf_str(out, l->id);
	else if (col == SERVICE)
		as_buf_str(out, l->name);
	else if (col == VERSION)
		as_buf_str(out, l->version[0] ? l->version : "-");
	else if (col == WHEN)
		as_put_time(out, l->start_ns);
	else if (col == TOOK)
		as_put_duration(out, l->duration_ns);
	else if (col == CPU)
		as_put_percent(out, utilisation(l));
	else if (col == SAMPLES)
		as_put_count(out, (double)r->it.samples);
	else
		as_put_percent(out, share_in(r, col == SELF ? r->named.self : r->named.total));
}

/* A function's share over time, at a glance. */
static void put_history(struct as_buf *out, const struct as_look *look, const struct as_profiles *p)
{
	as_auto_free double *v = as_zalloc_n(p->n, sizeof *v);

	out->bad |= !v;
	for (size_t i = 0; v && i < p->n; i++)
		v[i] = share_in(&p->row[i], p->row[i].named.total);
	if (!v)
		return;
	as_buf_str(out, "\ntotal of ");
	(void)as_put_name(out, p->function, SPARK);
	as_buf_str(out, " over time  ");
	as_put_spark(out, look, v, p->n, p->n < SPARK ? (int)p->n : SPARK);
	as_buf_byte(out, '\n');
}

/* "34 of 120 samples, …": those that filters have left, if not all. */
static void put_left(struct as_buf *out, const struct as_profile *p)
{
	int64_t left = p->taking.known && !strcmp(p->kind[0].name, "samples")
			       ? as_profile_total(p, 0)
			       : p->taking.samples;

	if (left < p->taking.samples)
		as_buf_fmt(out, "%s of ", as_human_count((double)left).s);
}

static void put_taken(struct as_buf *out, const struct as_profile *p)
{
	put_left(out, p);
	as_put_taking(out, &p->taking);
	if (p->taking.known)
		as_end_line(out);
}

static int put_merged(struct as_buf *out, const struct as_look *look, const struct as_profiles *p,
		      struct as_err *err)
{
	struct as_spelling how = {.functions = true, .highlight = p->highlight};

	as_buf_fmt(out, "\nFunctions that took most, of %zu profile%s\n", p->merged,
		   p->merged == 1 ? "" : "s");
	if (p->left_out)
		as_buf_fmt(out, "(%zu that count other things are left out)\n", p->left_out);
	return as_put_hot(out, look, p->all, &how, HOT, 0, err);
}

int as_report_profiles(struct as_buf *out, const struct as_look *look, const struct as_profiles *p,
		       size_t rows, struct as_err *err)
{
	size_t from = out->len, skip = rows && p->n > rows ? p->n - rows : 0;

	if (skip)
		as_buf_fmt(out, "… %zu earlier\n", skip);
	as_put_table(out, look,
		     &(struct as_table){.cols = columns,
					.ncols = p->function ? COLS : SELF,
					.nrows = p->n - skip,
					.data = p->row + skip,
					.cell = cell});
	if (p->function)
		put_history(out, look, p);
	int r = p->all && !p->function ? put_merged(out, look, p, err) : AS_OK;
	if (p->all)
		put_taken(out, p->all);
	as_page_end(out, look, from);
	return r;
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void put_row(struct as_json *j, const struct as_profile_row *r, bool function)
{
	const struct as_listing *l = &r->it.run;

	as_json_open(j, NULL, '{');
	as_json_str(j, "id", l->id);
	as_json_str(j, "service", l->name);
	as_json_str(j, "version", l->version[0] ? l->version : NULL);
	as_json_str(j, "project", r->it.project[0] ? r->it.project : NULL);
	as_json_str(j, "zone", r->it.zone[0] ? r->it.zone : NULL);
	as_json_str(j, "host", l->host[0] ? l->host : NULL);
	as_put_iso(j, "start_time", l->start_ns);
	as_json_i64(j, "duration_ns", l->duration_ns);
	as_json_f64(j, "cpu_cores", utilisation(l));
	as_json_str(j, "kind", r->it.kind);
	as_json_i64(j, "value", r->it.value);
	as_json_i64(j, "samples", r->it.samples);
	if (function) {
		as_json_value(j, "self", r->it.samples > 0 ? r->named.self : AS_NA);
		as_json_value(j, "total", r->it.samples > 0 ? r->named.total : AS_NA);
		as_json_i64(j, "of", r->named.of);
	}
	as_json_close(j);
}

void as_report_profiles_json(struct as_buf *out, const struct as_profiles *p)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/profiles/1");
	as_json_str(&j, "function", p->function);
	as_json_open(&j, "profiles", '[');
	for (size_t i = 0; i < p->n; i++)
		put_row(&j, &p->row[i], p->function);
	as_json_close(&j);
	as_json_i64(&j, "merged", (int64_t)p->merged);
	as_json_i64(&j, "left_out", (int64_t)p->left_out);
	as_put_taking_json(&j, "sampling",
			   p->all ? &p->all->taking : &(struct as_taking){.known = false});
	as_put_profile_json(&j, p->all);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
