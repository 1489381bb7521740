#include "report/rollouts.h"

#include <math.h>

#include "base/human.h"
#include "base/json.h"
#include "judge/load.h"
#include "report/load.h"
#include "report/table.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* ── for people ───────────────────────────────────────────────────────── */

static void put_counts(const struct as_sheet *s, const struct as_rollouts *r)
{
	struct as_flow f = {s->out, s->look, 2, "rollouts    ", AS_INK_NONE, 0};
	double rate = as_rollouts_per_minute(r);

	as_flow_add(&f, "%s of %s back", as_human_count((double)(r->back + r->before)).s,
		    as_human_count((double)r->asked).s);
	if (isfinite(rate))
		as_flow_add(&f, "%s/min", as_human_number(rate).s);
	if (r->before)
		as_flow_add(&f, "%s were there before", as_human_count((double)r->before).s);
	if (r->retried)
		as_flow_add(&f, "%s tried again", as_human_count((double)r->retried).s);
	as_flow_end(&f);
}

static void put_missing(const struct as_sheet *s, const struct as_rollouts *r)
{
	struct as_flow f = {s->out, s->look, 2, "missing     ", AS_RED, 0};

	if (!as_rollouts_missing(r))
		return;
	as_flow_add(&f, "%s of %s", as_human_count((double)as_rollouts_missing(r)).s,
		    as_human_count((double)r->asked).s);
	if (r->failed)
		as_flow_add(&f, "%s failed", as_human_count((double)r->failed).s);
	if (r->malformed)
		as_flow_add(&f, "%s row%s could not be read",
			    as_human_count((double)r->malformed).s, plural(r->malformed));
	if (r->given_up)
		as_flow_add(&f, "%s given up before", as_human_count((double)r->given_up).s);
	if (r->unfinished)
		as_flow_add(&f, "%s under way at the end", as_human_count((double)r->unfinished).s);
	as_flow_end(&f);
}

enum { WHAT, COUNT, P50, P99, MOST, TARGET, VERDICT, COLUMNS };

static const struct as_column columns[COLUMNS] = {
	[WHAT] = {.title = ""},
	[COUNT] = {.title = "n", .right = true},
	[P50] = {.title = "p50", .right = true},
	[P99] = {.title = "p99", .right = true},
	[MOST] = {.title = "max", .right = true},
	[TARGET] = {.title = "target", .right = true},
	[VERDICT] = {.title = ""},
};

static void put_quantile(struct as_buf *cell, const struct as_histogram *h, double q)
{
	as_buf_str(cell, h && h->n ? as_human_duration(as_histogram_at(h, q)).s : "-");
}

static const char *word_of(const struct as_gym_target *t)
{
	return !t->times || !t->times->n ? "not measured" : t->missed ? "MISSED" : "met";
}

static void put_target_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct as_gym_target *t = (const struct as_gym_target *)data + row;

	switch (col) {
	case WHAT:
		as_buf_str(cell, t->title);
		break;
	case COUNT:
		as_buf_str(cell, as_human_count(t->times ? (double)t->times->n : 0).s);
		break;
	case P50:
	case P99:
	case MOST:
		put_quantile(cell, t->times, col == P50 ? 0.5 : col == P99 ? 0.99 : 1);
		break;
	case TARGET:
		as_buf_fmt(cell, "< %s", as_human_duration(t->limit_ns).s);
		break;
	default:
		as_buf_str(cell, word_of(t));
	}
}

static enum as_ink target_ink(const void *data, size_t row, size_t col)
{
	const struct as_gym_target *t = (const struct as_gym_target *)data + row;

	if (col != VERDICT || !t->times || !t->times->n)
		return AS_INK_NONE;
	return t->missed ? AS_RED : AS_GREEN;
}

static void put_targets(const struct as_sheet *s, const struct as_gym_target *targets)
{
	const struct as_table t = {.cols = columns,
				   .ncols = COLUMNS,
				   .nrows = AS_GYM_TARGETS,
				   .data = targets,
				   .indent = 2,
				   .cell = put_target_cell,
				   .ink = target_ink};

	if (!targets)
		return;
	as_buf_byte(s->out, '\n');
	as_put_table(s->out, s->look, &t);
}

static void put_files(const struct as_sheet *s, const char *const *files)
{
	as_buf_byte(s->out, '\n');
	for (; files[0]; files += 2) {
		as_put_label(s, files[0], AS_DIM);
		(void)as_put_name(s->out, files[1], s->look->width - AS_TEXT_AT);
		as_end_line(s->out);
	}
}

void as_report_rollouts(struct as_buf *out, const struct as_look *look,
			const struct as_rollouts_report *r)
{
	const struct as_sheet s = {out, look, r->run};
	size_t from = out->len;

	if (r->run)
		as_put_head(&s);
	put_counts(&s, r->rollouts);
	put_missing(&s, r->rollouts);
	if (r->run)
		as_put_load(&s);
	put_targets(&s, r->targets);
	if (r->run) {
		as_buf_byte(out, '\n');
		as_put_verdict(&s);
	}
	put_files(&s, r->files);
	as_page_end(out, look, from);
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static double ms(const struct as_histogram *h, double q)
{
	return h && h->n ? (double)as_histogram_at(h, q) / 1e6 : (double)NAN;
}

static void json_times(struct as_json *j, const char *key, const struct as_histogram *h)
{
	as_json_open(j, key, '{');
	as_json_i64(j, "count", h ? (int64_t)h->n : 0);
	as_json_f64(j, "p50", ms(h, 0.5));
	as_json_f64(j, "p90", ms(h, 0.9));
	as_json_f64(j, "p99", ms(h, 0.99));
	as_json_f64(j, "max", ms(h, 1));
	as_json_close(j);
}

static void json_targets(struct as_json *j, const struct as_gym_target *t)
{
	if (!t) {
		as_json_na(j, "targets");
		return;
	}
	as_json_open(j, "targets", '[');
	for (size_t i = 0; i < AS_GYM_TARGETS; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "name", t[i].key);
		as_json_f64(j, "limit_ms", (double)t[i].limit_ns / 1e6);
		as_json_f64(j, "p99_ms", ms(t[i].times, 0.99));
		if (t[i].times && t[i].times->n)
			as_json_bool(j, "met", !t[i].missed);
		else
			as_json_na(j, "met");
		as_json_close(j);
	}
	as_json_close(j);
}

static void json_counts(struct as_json *j, const struct as_rollouts *r)
{
	as_json_i64(j, "asked", (int64_t)r->asked);
	as_json_i64(j, "before", (int64_t)r->before);
	as_json_i64(j, "back", (int64_t)r->back);
	as_json_i64(j, "missing", (int64_t)as_rollouts_missing(r));
	as_json_i64(j, "failed", (int64_t)r->failed);
	as_json_i64(j, "given_up", (int64_t)r->given_up);
	as_json_i64(j, "malformed", (int64_t)r->malformed);
	as_json_i64(j, "unfinished", (int64_t)r->unfinished);
	as_json_i64(j, "retried", (int64_t)r->retried);
	as_json_f64(j, "per_minute", as_rollouts_per_minute(r));
	as_json_f64(j, "duration_seconds", (double)r->duration_ns / 1e9);
	as_json_bool(j, "driven", r->driven);
	as_json_i64(j, "tools_failed", (int64_t)r->tools_failed);
}

static void json_run(struct as_json *j, const struct as_run *run)
{
	as_json_str(j, "id", run ? run->who.id : NULL);
	as_json_str(j, "name", run ? run->who.name : NULL);
	as_json_str(j, "status", run ? as_status_name(run->end.status) : NULL);
	as_json_str(j, "verdict",
		    !run                                ? NULL
		    : as_load_is_invalid(&run->verdict) ? "INVALID"
							: "valid");
	as_json_str(j, "verdict_reason", run ? run->verdict.sentence : NULL);
}

void as_report_rollouts_json(struct as_buf *out, const struct as_rollouts_report *r)
{
	struct as_json j = as_json_pretty(out);

	as_json_open(&j, NULL, '{');
	as_json_str(&j, "schema", "assay/rollouts/1");
	json_run(&j, r->run);
	json_counts(&j, r->rollouts);
	json_times(&j, "tool_ms", &r->rollouts->tool);
	json_times(&j, "verify_ms", &r->rollouts->verify);
	json_times(&j, "seed_ms", &r->rollouts->seed);
	json_targets(&j, r->targets);
	as_json_open(&j, "files", '{');
	for (const char *const *f = r->files; f[0]; f += 2)
		as_json_str(&j, f[0], f[1]);
	as_json_close(&j);
	if (r->run)
		as_put_load_json(&j, r->run);
	else
		as_json_na(&j, "load");
	as_json_close(&j);
}
