#include "report/load_flow.h"

#include <math.h>
#include <string.h>

#include "report/glyph.h"

enum { CELL = 9, NAME = 20, NAME_BESIDE_GOOD = 12 };

/* ── for people ───────────────────────────────────────────────────────── */

static void put_sessions(const struct as_sheet *s, const struct as_load *l)
{
	struct as_flow f = {s->out, s->look, 2, "sessions    ", AS_INK_NONE, 0};

	as_flow_add(&f, "%s", as_human_count((double)l->sessions).s);
	if (l->measured_ns > 0)
		as_flow_add(&f, "%s/s",
			    as_human_count((double)l->sessions * 1e9 / (double)l->measured_ns).s);
	if (l->session.n)
		as_flow_add(&f, "p50 %s", as_human_duration(as_histogram_at(&l->session, 0.5)).s);
	if (l->session.n)
		as_flow_add(&f, "p99 %s", as_human_duration(as_histogram_at(&l->session, 0.99)).s);
	if (l->broken)
		as_flow_add(&f, "%s broke off", as_human_count((double)l->broken).s);
	if (l->sessions_left)
		as_flow_add(&f, "%s at work at the end",
			    as_human_count((double)l->sessions_left).s);
	as_flow_end(&f);
}

static void put_cell(const struct as_sheet *s, const char *text)
{
	as_put_cell(s->out, text, CELL, true);
}

/* Good ones have a column if there is a bound; names have less room then. */
static size_t name_width(const struct as_load *l)
{
	return as_load_is_judged(l) ? NAME_BESIDE_GOOD : NAME;
}

static void put_titles(const struct as_sheet *s, const struct as_load *l)
{
	static const char *const titles[] = {"requests", "errors", "p50", "p90", "p99", "max"};

	as_buf_fill(s->out, ' ', 4 + name_width(l));
	as_ink(s->out, s->look, AS_DIM);
	for (size_t i = 0; i < AS_LEN(titles); i++) {
		put_cell(s, titles[i]);
		if (i == 1 && as_load_is_judged(l))
			put_cell(s, "good");
	}
	as_ink_end(s->out, s->look, AS_DIM);
	as_end_line(s->out);
}

static void put_step(const struct as_sheet *s, const struct as_load *l,
		     const struct as_load_step *step)
{
	static const double quantiles[] = {0.5, 0.9, 0.99, 1};
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	(void)as_put_clean(&name, step->name, strlen(step->name), name_width(l));
	as_buf_fill(s->out, ' ', 4);
	as_put_cell(s->out, as_buf_text(&name), name_width(l), false);
	put_cell(s, as_human_count((double)step->requests).s);
	put_cell(s, as_human_count((double)as_load_step_failed(step)).s);
	if (as_load_is_judged(l))
		put_cell(s, as_human_percent(as_load_step_goodput(l, step)).s);
	for (size_t i = 0; i < AS_LEN(quantiles) && step->latency.n; i++)
		put_cell(s, as_human_duration(as_histogram_at(&step->latency, quantiles[i])).s);
	as_end_line(s->out);
	s->out->bad |= name.bad;
}

/* All of them in a number, and those that failed by their names. */
static void put_checks(const struct as_sheet *s, const struct as_load *l)
{
	uint64_t passed, failed;
	char text[AS_LOAD_STEP_NAME + AS_LOAD_CHECK_NAME + 60];

	if (!l->nchecks)
		return;
	as_load_checked(l, NULL, &passed, &failed);
	as_put_label(s, "checks", failed ? AS_RED : AS_INK_NONE);
	as_buf_fmt(s->out, "%s passed, %s failed\n", as_human_count((double)passed).s,
		   as_human_count((double)failed).s);
	for (size_t i = 0; i < l->nchecks; i++) {
		const struct as_load_check *c = &l->check[i];

		if (!c->failed)
			continue;
		(void)snprintf(text, sizeof text, "%s, %s: %s of %s failed", l->step[c->step].name,
			       c->name, as_human_count((double)c->failed).s,
			       as_human_count((double)(c->passed + c->failed)).s);
		as_buf_fill(s->out, ' ', AS_TEXT_AT);
		as_put_wrapped(s->out, s->look, text, AS_TEXT_AT, AS_TEXT_AT + 2);
	}
}

void as_put_load_flow(const struct as_sheet *s)
{
	const struct as_load *l = s->run->load;

	if (!l->nsteps)
		return;
	put_sessions(s, l);
	put_checks(s, l);
	put_titles(s, l);
	for (size_t i = 0; i < l->nsteps; i++)
		put_step(s, l, &l->step[i]);
}

void as_put_load_flow_markdown(struct as_buf *out, const struct as_load *l)
{
	if (!l->nsteps)
		return;
	as_buf_str(out, "| step | requests | failed | p50 | p90 | p99 | max |\n"
			"|---|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < l->nsteps; i++) {
		const struct as_load_step *s = &l->step[i];

		as_buf_str(out, "| ");
		as_put_markdown(out, s->name);
		as_buf_fmt(out, " | %s ", as_human_count((double)s->requests).s);
		as_buf_fmt(out, "| %s ", as_human_count((double)as_load_step_failed(s)).s);
		as_buf_fmt(out, "| %s ", as_human_duration(as_histogram_at(&s->latency, 0.5)).s);
		as_buf_fmt(out, "| %s ", as_human_duration(as_histogram_at(&s->latency, 0.9)).s);
		as_buf_fmt(out, "| %s ", as_human_duration(as_histogram_at(&s->latency, 0.99)).s);
		as_buf_fmt(out, "| %s |\n", as_human_duration(as_histogram_at(&s->latency, 1)).s);
	}
	as_buf_byte(out, '\n');
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static void put_checks_json(struct as_json *j, const struct as_load *l, size_t step)
{
	as_json_open(j, "checks", '[');
	for (size_t i = 0; i < l->nchecks; i++) {
		if (l->check[i].step != step)
			continue;
		as_json_open(j, NULL, '{');
		as_json_str(j, "name", l->check[i].name);
		as_json_i64(j, "passed", (int64_t)l->check[i].passed);
		as_json_i64(j, "failed", (int64_t)l->check[i].failed);
		as_json_close(j);
	}
	as_json_close(j);
}

static void put_step_json(struct as_json *j, const struct as_load *l, size_t i)
{
	const struct as_load_step *s = &l->step[i];

	as_json_open(j, NULL, '{');
	as_json_str(j, "name", s->name);
	as_json_i64(j, "requests", (int64_t)s->requests);
	as_put_load_outcomes_json(j, s->errors, s->status, l->measured_ns);
	as_json_f64(j, "goodput", as_load_step_goodput(l, s));
	as_put_load_times_json(j, "latency_ms", &s->latency);
	as_put_load_times_json(j, "wire_ms", &s->wire);
	as_put_load_times_json(j, "waiting_ms", &s->waiting);
	put_checks_json(j, l, i);
	as_json_close(j);
}

static void put_all_checks_json(struct as_json *j, const struct as_load *l)
{
	uint64_t passed, failed;

	if (!l->nchecks) {
		as_json_na(j, "checks");
		return;
	}
	as_load_checked(l, NULL, &passed, &failed);
	as_json_open(j, "checks", '{');
	as_json_i64(j, "passed", (int64_t)passed);
	as_json_i64(j, "failed", (int64_t)failed);
	as_json_f64(j, "rate",
		    passed + failed ? (double)passed / (double)(passed + failed) : (double)NAN);
	as_json_close(j);
}

static void put_sessions_json(struct as_json *j, const struct as_load *l)
{
	if (!l->nsteps) {
		as_json_na(j, "sessions");
		return;
	}
	as_json_open(j, "sessions", '{');
	as_json_i64(j, "ended", (int64_t)l->sessions);
	as_json_i64(j, "broken", (int64_t)l->broken);
	as_json_i64(j, "unfinished", (int64_t)l->sessions_left);
	as_put_load_times_json(j, "duration_ms", &l->session);
	as_json_close(j);
}

void as_put_load_flow_json(struct as_json *j, const struct as_load *l)
{
	put_sessions_json(j, l);
	put_all_checks_json(j, l);
	as_json_open(j, "steps", '[');
	for (size_t i = 0; i < l->nsteps; i++)
		put_step_json(j, l, i);
	as_json_close(j);
}
