#include "report/rollouts.h"

#include <math.h>

#include "base/human.h"
#include "judge/load.h"
#include "report/load.h"
#include "report/load_target.h"
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

/* A row that is repeated is several rollouts. */
static void put_lost(struct as_flow *f, const struct as_rollouts *r)
{
	char each[sizeof(struct as_text) + 40] = "";

	if (r->lost > r->malformed)
		(void)snprintf(each, sizeof each, " (%s rollouts)",
			       as_human_count((double)r->lost).s);
	as_flow_add(f, "%s row%s could not be read%s", as_human_count((double)r->malformed).s,
		    plural(r->malformed), each);
}

static void put_missing(const struct as_sheet *s, const struct as_rollouts *r)
{
	struct as_flow f = {s->out, s->look, 2, "missing     ", AS_RED, 0};
	char no_json[sizeof(struct as_text) + 40] = "";

	if (!as_rollouts_missing(r))
		return;
	as_flow_add(&f, "%s of %s", as_human_count((double)as_rollouts_missing(r)).s,
		    as_human_count((double)r->asked).s);
	if (r->no_json)
		(void)snprintf(no_json, sizeof no_json, " (%s answer%s no JSON object)",
			       as_human_count((double)r->no_json).s,
			       r->no_json == 1 ? " was" : "s were");
	if (r->failed)
		as_flow_add(&f, "%s failed%s", as_human_count((double)r->failed).s, no_json);
	if (r->malformed)
		put_lost(&f, r);
	if (r->given_up)
		as_flow_add(&f, "%s given up before", as_human_count((double)r->given_up).s);
	if (r->unfinished)
		as_flow_add(&f, "%s under way at the end", as_human_count((double)r->unfinished).s);
	if (as_rollouts_unsent(r))
		as_flow_add(&f, "%s never sent", as_human_count((double)as_rollouts_unsent(r)).s);
	as_flow_end(&f);
}

void as_put_rollouts(const struct as_sheet *s, const struct as_rollouts *r)
{
	if (!r->asked)
		return;
	put_counts(s, r);
	put_missing(s, r);
}

/* ── the table ────────────────────────────────────────────────────────── */

enum { WHAT, COUNT, P50, P99, MOST, TARGET, VERDICT, COLUMNS };
enum { SERVER = 24, ROWS = AS_GYM_TARGETS + 1 };

static const struct as_column columns[COLUMNS] = {
	[WHAT] = {.title = ""},
	[COUNT] = {.title = "n", .right = true},
	[P50] = {.title = "p50", .right = true},
	[P99] = {.title = "p99", .right = true},
	[MOST] = {.title = "max", .right = true},
	[TARGET] = {.title = "target", .right = true},
	[VERDICT] = {.title = ""},
};

struct rows {
	const struct as_gym_target *at[ROWS]; /* NULL: memory */
	size_t n;
	const struct as_load_target *memory; /* whose sessions take most; or NULL */
	bool held;                           /* to the targets                    */
};

static void put_time(struct as_buf *cell, int64_t ns)
{
	as_buf_str(cell, ns == AS_NA ? "-" : as_human_duration(ns).s);
}

static void put_verdict(struct as_buf *cell, const struct as_gym_target *t, bool held)
{
	if (held)
		as_buf_str(cell, !t->n ? "not measured" : t->met ? "met" : "MISSED");
	if (!t->server)
		return;
	as_buf_str(cell, held ? ", " : "");
	(void)as_put_name(cell, t->server, SERVER);
}

static void put_memory_cell(const struct as_load_target *t, size_t col, struct as_buf *cell)
{
	switch (col) {
	case WHAT:
		as_buf_str(cell, "memory a session");
		break;
	case COUNT:
		as_buf_str(cell, as_human_count((double)t->sessions).s);
		break;
	case MOST:
		as_buf_str(cell, as_human_bytes((double)t->session_bytes).s);
		break;
	case VERDICT:
		(void)as_put_name(cell, t->name, SERVER);
		break;
	default:
		as_buf_byte(cell, '-');
	}
}

static void put_target_cell(const void *data, size_t row, size_t col, struct as_buf *cell)
{
	const struct rows *rows = data;
	const struct as_gym_target *t = rows->at[row];

	if (!t) {
		put_memory_cell(rows->memory, col, cell);
		return;
	}
	switch (col) {
	case WHAT:
		as_buf_str(cell, t->title);
		break;
	case COUNT:
		as_buf_str(cell, as_human_count((double)t->n).s);
		break;
	case P50:
	case P99:
	case MOST:
		put_time(cell, col == P50 ? t->p50 : col == P99 ? t->p99 : t->max);
		break;
	case TARGET:
		if (rows->held)
			as_buf_fmt(cell, "< %s", as_human_duration(t->limit_ns).s);
		else
			as_buf_byte(cell, '-');
		break;
	default:
		put_verdict(cell, t, rows->held);
	}
}

static enum as_ink target_ink(const void *data, size_t row, size_t col)
{
	const struct rows *rows = data;
	const struct as_gym_target *t = rows->at[row];

	if (col != VERDICT || !t || !rows->held)
		return AS_INK_NONE;
	return t->met ? AS_GREEN : AS_RED;
}

static void put_note(const struct as_sheet *s, const char *what, const char *why)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&text, "%s: %s", what, why);
	as_buf_str(s->out, "  ");
	as_put_wrapped(s->out, s->look, as_buf_text(&text), 2, 4);
	s->out->bad |= text.bad;
}

/* What nobody knows, why, and what to do. */
static void put_notes(const struct as_sheet *s, const struct as_gym_target *t,
		      const struct rows *rows, uint64_t unwatched)
{
	char text[120];

	for (size_t i = 0; rows->held && i < AS_GYM_TARGETS; i++)
		if (t[i].why)
			put_note(s, t[i].title, t[i].why);
	if (rows->held && !rows->memory)
		put_note(s, "memory a session", "unknown: nobody was watched");
	else if (rows->held && rows->memory->session_bytes == AS_NA)
		put_note(s, "memory a session", "unknown: too few were open at once");
	if (!unwatched)
		return;
	(void)snprintf(text, sizeof text, "%s more, %d is the most: choose with --watch",
		       as_human_count((double)unwatched).s, AS_LOAD_TARGETS);
	put_note(s, "servers that were not watched", text);
}

void as_put_gym(const struct as_sheet *s, const struct as_rollouts *r)
{
	const struct as_load *l = s->run ? s->run->load : NULL;
	struct as_gym_target targets[AS_GYM_TARGETS];
	struct rows rows = {.memory = as_session_worst(l), .held = r->gym};

	if (!r->asked)
		return;
	(void)as_judge_gym(r, l, targets);
	for (size_t i = 0; i < AS_GYM_TARGETS; i++)
		if (rows.held || targets[i].n)
			rows.at[rows.n++] = &targets[i];
	rows.n += rows.memory && rows.memory->session_bytes != AS_NA;
	if (rows.n || r->unwatched)
		as_buf_byte(s->out, '\n');
	if (rows.n)
		as_put_table(s->out, s->look,
			     &(struct as_table){.cols = columns,
						.ncols = COLUMNS,
						.nrows = rows.n,
						.data = &rows,
						.indent = 2,
						.cell = put_target_cell,
						.ink = target_ink});
	put_notes(s, targets, &rows, r->unwatched);
}

/* ── the summary ──────────────────────────────────────────────────────── */

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

	if (r->run) {
		as_put_head(&s);
		as_put_load(&s);
		as_buf_byte(out, '\n');
		as_put_verdict(&s);
	} else {
		as_put_rollouts(&s, r->rollouts);
		as_put_gym(&s, r->rollouts);
	}
	put_files(&s, r->files);
	as_page_end(out, look, from);
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static double ms(int64_t ns)
{
	return ns == AS_NA ? (double)NAN : (double)ns / 1e6;
}

static void json_times(struct as_json *j, const char *key, const struct as_histogram *h)
{
	as_json_open(j, key, '{');
	as_json_i64(j, "count", (int64_t)h->n);
	as_json_f64(j, "p50", ms(h->n ? as_histogram_at(h, 0.5) : AS_NA));
	as_json_f64(j, "p90", ms(h->n ? as_histogram_at(h, 0.9) : AS_NA));
	as_json_f64(j, "p99", ms(h->n ? as_histogram_at(h, 0.99) : AS_NA));
	as_json_f64(j, "max", ms(h->n ? h->max : AS_NA));
	as_json_close(j);
}

static void json_targets(struct as_json *j, const struct as_rollouts *r, const struct as_load *l)
{
	struct as_gym_target t[AS_GYM_TARGETS];

	if (!r->gym) {
		as_json_na(j, "targets");
		return;
	}
	(void)as_judge_gym(r, l, t);
	as_json_open(j, "targets", '[');
	for (size_t i = 0; i < AS_GYM_TARGETS; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "name", t[i].key);
		as_json_f64(j, "limit_ms", ms(t[i].limit_ns));
		as_json_f64(j, "p99_ms", ms(t[i].p99));
		as_json_str(j, "server", t[i].server);
		as_json_bool(j, "met", t[i].met);
		as_json_str(j, "not_measured", t[i].why);
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
	as_json_i64(j, "malformed_answers", (int64_t)r->no_json);
	as_json_i64(j, "given_up", (int64_t)r->given_up);
	as_json_i64(j, "malformed", (int64_t)r->malformed);
	as_json_i64(j, "lost", (int64_t)r->lost);
	as_json_i64(j, "unfinished", (int64_t)r->unfinished);
	as_json_i64(j, "retried", (int64_t)r->retried);
	as_json_f64(j, "per_minute", as_rollouts_per_minute(r));
	as_json_f64(j, "duration_seconds", (double)r->duration_ns / 1e9);
	as_json_bool(j, "driven", r->driven);
	as_json_i64(j, "tools_failed", (int64_t)r->tools_failed);
	as_json_i64(j, "unwatched", (int64_t)r->unwatched);
}

static void json_all(struct as_json *j, const struct as_rollouts *r, const struct as_load *l)
{
	json_counts(j, r);
	json_times(j, "tool_ms", &r->tool);
	json_times(j, "verify_ms", &r->verify);
	json_times(j, "seed_ms", &r->seed);
	json_targets(j, r, l);
	as_put_session_json(j, as_session_worst(l));
}

void as_put_rollouts_json(struct as_json *j, const struct as_load *l)
{
	if (!l->rollouts.asked) {
		as_json_na(j, "rollouts");
		return;
	}
	as_json_open(j, "rollouts", '{');
	json_all(j, &l->rollouts, l);
	as_json_close(j);
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
	json_all(&j, r->rollouts, r->run ? r->run->load : NULL);
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
