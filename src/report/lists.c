/*
 * Many runs on one page. The store hands them over in the order in which they
 * are shown: running ones first.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/json.h"
#include "judge/load.h"
#include "report/known.h"
#include "report/record.h"
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"

/* ── jobs ─────────────────────────────────────────────────────────────── */

struct jobs {
	const struct as_listing *l;
	int64_t now;
};

/* Words of a fixed set are never cut: first names are, then numbers are left out. */
static const struct as_column job_columns[] = {
	{.title = "id", .max = 12},
	{.title = "name", .min = 8, .port = true},
	{.title = "status"},
	{.title = "age", .right = true, .spare = 2},
	{.title = "took", .right = true, .spare = 4},
	{.title = "CPU", .right = true, .spare = 1},
	{.title = "peak", .right = true, .spare = 3},
	{.title = "verdict", .spare = 5},
};

/* "5s", "12m", "3h", "40d", "2y": rounded down, as ages are. */
static void put_age(struct as_buf *out, int64_t ns)
{
	static const struct {
		int64_t s, limit;
		char unit;
	} steps[] = {{1, 60, 's'},
		     {60, 3600, 'm'},
		     {3600, 48 * 3600, 'h'},
		     {86400, 1000 * 86400LL, 'd'}};
	int64_t s = ns > 0 ? ns / AS_SECOND : 0; /* clocks of two machines may disagree */

	for (size_t i = 0; i < AS_LEN(steps); i++) {
		if (s < steps[i].limit) {
			as_buf_fmt(out, "%d%c", (int)(s / steps[i].s), steps[i].unit);
			return;
		}
	}
	as_buf_fmt(out, "%dy", (int)(s / (365 * 86400LL)));
}

/* A load that measured itself, or nobody, has no outcome of its own. */
static bool is_invalid(const struct as_listing *l)
{
	struct as_verdict v = {0};

	(void)snprintf(v.kind, sizeof v.kind, "%s", l->verdict);
	return (l->status == AS_SUCCESS || l->status == AS_FAILED) && as_load_is_invalid(&v);
}

static void put_status(struct as_buf *cell, const struct as_listing *l)
{
	if (is_invalid(l))
		as_buf_fmt(cell, "%s INVALID", as_status_mark(AS_FAILED));
	else
		as_buf_fmt(cell, "%s %s", as_status_mark(l->status), as_status_name(l->status));
}

static void job_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct jobs *j = data;
	const struct as_listing *l = &j->l[row];

	switch (col) {
	case 0:
		as_buf_str(cell, l->id);
		break;
	case 1:
		as_buf_str(cell, l->name);
		break;
	case 2:
		put_status(cell, l);
		break;
	case 3:
		put_age(cell, j->now - l->start_ns);
		break;
	case 4:
		as_put_duration(cell, l->duration_ns);
		break;
	case 5:
		as_put_duration(cell, l->cpu_ns);
		break;
	case 6:
		as_put_value(cell, AS_BYTES, (double)l->peak_bytes);
		break;
	default:
		as_buf_str(cell, l->verdict[0] ? l->verdict : "-");
	}
}

static enum as_ink job_ink(const void *data, size_t row, size_t col)
{
	const struct jobs *j = data;

	if (col == 2)
		return as_status_ink(is_invalid(&j->l[row]) ? AS_FAILED : j->l[row].status);
	return col == 1 ? AS_BOLD : AS_INK_NONE;
}

void as_report_jobs(struct as_buf *out, const struct as_look *look, const struct as_listing *l,
		    size_t n, int64_t now_ns)
{
	size_t from = out->len;

	as_put_table(out, look,
		     &(struct as_table){.cols = job_columns,
					.ncols = AS_LEN(job_columns),
					.nrows = n,
					.data = &(struct jobs){l, now_ns},
					.cell = job_cell,
					.ink = job_ink});
	as_page_end(out, look, from);
}

static void put_seconds(struct as_json *j, const char *key, int64_t ns)
{
	as_json_f64(j, key, ns == AS_NA ? (double)NAN : as_seconds(ns));
}

static void put_text(struct as_json *j, const char *key, const char *text)
{
	as_json_str(j, key, *text ? text : NULL);
}

static void put_job(struct as_json *j, const struct as_listing *l)
{
	as_json_open(j, NULL, '{');
	as_json_str(j, "id", l->id);
	as_json_str(j, "name", l->name);
	put_text(j, "version", l->version);
	as_json_str(j, "kind", l->kind);
	put_text(j, "parent", l->parent);
	put_text(j, "host", l->host);
	as_json_str(j, "command", l->command);
	as_json_str(j, "status", as_status_name(l->status));
	as_json_value(j, "exit_code", l->exit_code < 0 ? AS_NA : l->exit_code);
	as_json_value(j, "signal", l->signal ? l->signal : AS_NA);
	as_put_iso(j, "start_time", l->start_ns);
	as_json_value(j, "start_ns", l->start_ns);
	put_seconds(j, "duration_seconds", l->duration_ns);
	put_seconds(j, "cpu_seconds", l->cpu_ns);
	put_seconds(j, "cpu_user_seconds", l->cpu_user_ns);
	put_seconds(j, "cpu_system_seconds", l->cpu_system_ns);
	as_json_value(j, "memory_peak_bytes", l->peak_bytes);
	put_text(j, "verdict", l->verdict);
	put_text(j, "error", l->error);
	as_json_close(j);
}

void as_report_jobs_json(struct as_buf *out, const struct as_listing *l, size_t n)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/list/1");
	as_json_open(&j, "runs", '[');
	for (size_t i = 0; i < n; i++)
		put_job(&j, &l[i]);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}

/* ── stats ────────────────────────────────────────────────────────────── */

/* A change of less than this a run, as a ratio, is called none. */
static const double STEADY = 0.005;
/* Steeper than this the number means nothing any more. */
static const double TREND_MAX = 9.99;

static const struct as_column stat_columns[] = {
	{"name", false, 6, 0},     {"runs", true, 0, 0},     {"success", true, 0, 0},
	{"mean time", true, 0, 0}, {"mean CPU", true, 0, 0}, {"mean peak", true, 0, 0},
	{"max peak", true, 0, 0},  {"trend", true, 0, 0},
};

/* Of the runs that are over, the share that succeeded. NaN when none is. */
static double success(const struct as_name_stats *s)
{
	return (double)s->success /
	       (double)(s->success + s->failed + s->timeout + s->error + s->interrupted);
}

static double mean(int64_t sum, uint64_t n)
{
	return n ? (double)sum / (double)n : (double)NAN;
}

static void put_mean(struct as_buf *out, enum as_unit unit, int64_t sum, uint64_t n)
{
	as_put_value(out, unit, mean(sum, n));
}

static void put_trend(struct as_buf *out, double trend)
{
	if (!isfinite(trend))
		as_buf_byte(out, '-');
	else if (fabs(trend) < STEADY)
		as_buf_str(out, "→ same");
	else
		as_buf_fmt(out, "%s %s%s", trend > 0 ? "↗" : "↘", trend > 0 ? "+" : "",
			   as_human_percent(fmax(-TREND_MAX, fmin(trend, TREND_MAX))).s);
}

static void stat_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_name_stats *s = (const struct as_name_stats *)data + row;

	switch (col) {
	case 0:
		as_buf_str(cell, s->name);
		break;
	case 1:
		as_put_count(cell, (double)s->count);
		break;
	case 2:
		as_put_percent(cell, success(s));
		break;
	case 3:
		put_mean(cell, AS_NS, s->duration_sum_ns, s->count);
		break;
	case 4:
		put_mean(cell, AS_NS, s->cpu_sum_ns, s->cpu_known);
		break;
	case 5:
		put_mean(cell, AS_BYTES, s->memory_sum_bytes, s->memory_known);
		break;
	case 6:
		put_mean(cell, AS_BYTES, s->memory_max_bytes, s->memory_known ? 1 : 0);
		break;
	default:
		put_trend(cell, s->trend);
	}
}

static enum as_ink stat_ink(const void *data, size_t row, size_t col)
{
	const struct as_name_stats *s = (const struct as_name_stats *)data + row;

	if (col == 7 && fabs(s->trend) >= STEADY)
		return s->trend > 0 ? AS_YELLOW : AS_GREEN;
	return col == 0 ? AS_BOLD : AS_INK_NONE;
}

static struct as_name_stats sum_of(const struct as_name_stats *s, size_t n)
{
	struct as_name_stats all = {.trend = NAN};

	for (size_t i = 0; i < n; i++) {
		all.count += s[i].count;
		all.success += s[i].success;
		all.failed += s[i].failed;
		all.timeout += s[i].timeout;
		all.error += s[i].error;
		all.interrupted += s[i].interrupted;
		all.duration_sum_ns += s[i].duration_sum_ns;
		all.cpu_sum_ns += s[i].cpu_sum_ns;
		all.cpu_known += s[i].cpu_known;
		all.memory_known += s[i].memory_known;
		if (s[i].memory_max_bytes > all.memory_max_bytes)
			all.memory_max_bytes = s[i].memory_max_bytes;
	}
	return all;
}

static void put_sum(struct as_buf *out, const struct as_look *look, const struct as_name_stats *s,
		    size_t n)
{
	struct as_name_stats all = sum_of(s, n);
	struct as_flow f = {out, look, 0, NULL, AS_DIM, 0};

	as_buf_byte(out, '\n');
	as_flow_add(&f, "%s run%s of %s name%s", as_human_count((double)all.count).s,
		    all.count == 1 ? "" : "s", as_human_count((double)n).s, n == 1 ? "" : "s");
	as_flow_add(&f, "%s succeeded", as_human_percent(success(&all)).s);
	as_flow_add(&f, "%s in all", as_human_duration(all.duration_sum_ns).s);
	if (all.cpu_known)
		as_flow_add(&f, "%s CPU", as_human_duration(all.cpu_sum_ns).s);
	if (all.memory_known)
		as_flow_add(&f, "largest peak %s", as_human_bytes((double)all.memory_max_bytes).s);
	as_flow_end(&f);
}

void as_report_stats(struct as_buf *out, const struct as_look *look, const struct as_name_stats *s,
		     size_t n)
{
	size_t from = out->len;

	as_put_table(out, look,
		     &(struct as_table){.cols = stat_columns,
					.ncols = AS_LEN(stat_columns),
					.nrows = n,
					.data = s,
					.cell = stat_cell,
					.ink = stat_ink});
	put_sum(out, look, s, n);
	as_page_end(out, look, from);
}

static void put_stat(struct as_json *j, const struct as_name_stats *s)
{
	as_json_i64(j, "count", (int64_t)s->count);
	as_json_i64(j, "success", (int64_t)s->success);
	as_json_i64(j, "failed", (int64_t)s->failed);
	as_json_i64(j, "timeout", (int64_t)s->timeout);
	as_json_i64(j, "error", (int64_t)s->error);
	as_json_i64(j, "interrupted", (int64_t)s->interrupted);
	as_json_f64(j, "success_ratio", success(s));
	as_json_f64(j, "duration_sum_seconds", as_seconds(s->duration_sum_ns));
	as_json_f64(j, "duration_mean_seconds", mean(s->duration_sum_ns, s->count) / 1e9);
	as_json_f64(j, "cpu_sum_seconds", s->cpu_known ? as_seconds(s->cpu_sum_ns) : (double)NAN);
	as_json_f64(j, "cpu_mean_seconds", mean(s->cpu_sum_ns, s->cpu_known) / 1e9);
	as_json_value(j, "memory_peak_max_bytes", s->memory_known ? s->memory_max_bytes : AS_NA);
}

void as_report_stats_json(struct as_buf *out, const struct as_name_stats *s, size_t n)
{
	struct as_json j = as_json(out);
	struct as_name_stats all = sum_of(s, n);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/stats/1");
	as_json_open(&j, "names", '[');
	for (size_t i = 0; i < n; i++) {
		as_json_open(&j, NULL, '{');
		as_json_str(&j, "name", s[i].name);
		put_stat(&j, &s[i]);
		put_seconds(&j, "duration_max_seconds", s[i].duration_max_ns);
		as_json_f64(&j, "memory_peak_mean_bytes",
			    mean(s[i].memory_sum_bytes, s[i].memory_known));
		as_put_iso(&j, "first_start_time", s[i].first_ns);
		as_put_iso(&j, "last_start_time", s[i].last_ns);
		as_json_f64(&j, "duration_trend_ratio_per_run", s[i].trend);
		as_json_close(&j);
	}
	as_json_close(&j);
	as_json_open(&j, "total", '{');
	put_stat(&j, &all);
	as_json_close(&j);
	as_json_close(&j);
	as_buf_byte(out, '\n');
}
