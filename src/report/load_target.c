#include "report/load_target.h"

#include <math.h>

#include "base/clock.h"
#include "base/human.h"
#include "judge/verdict.h"
#include "report/known.h"

/* The facts of the run are those of the first; each other has a run of its own, judged there. */
static void find_limit(const struct as_run *run, size_t i, struct as_verdict *ret)
{
	const struct as_load_target *t = &run->load->target[i];

	*ret = (struct as_verdict){0};
	if (t->limit[0])
		(void)snprintf(ret->sentence, sizeof ret->sentence, "%.159s", t->limit);
	else
		as_judge_job(run, ret);
}

/* ── for people ───────────────────────────────────────────────────────── */

static void add_count(struct as_flow *f, int64_t n, const char *what)
{
	if (n != AS_NA)
		as_flow_add(f, "%s %s%s", as_human_count((double)n).s, what, n == 1 ? "" : "s");
}

static void put_use(const struct as_sheet *s, const struct as_load_target *t)
{
	struct as_flow f = {s->out, s->look, 2, "target      ", AS_INK_NONE, 0};
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	(void)as_put_name(&name, t->name, AS_LOAD_NAME);
	as_flow_add(&f, "%s (%d)", as_buf_text(&name), t->pid);
	if (!isnan(t->cores))
		as_flow_add(&f, "%.2f cores", t->cores);
	if (!isnan(t->cores_most))
		as_flow_add(&f, "%.2f at most", t->cores_most);
	if (t->memory != AS_NA)
		as_flow_add(&f, "%s peak memory", as_human_bytes((double)t->memory).s);
	if (t->processes > 1)
		as_flow_add(&f, "%s processes", as_human_count((double)t->processes).s);
	add_count(&f, t->threads, "thread");
	add_count(&f, t->files, "open file");
	if (t->run[0])
		as_flow_add(&f, "run %s", t->run);
	as_flow_end(&f);
}

static void put_unseen(const struct as_sheet *s, const struct as_load_target *t)
{
	char text[AS_LOAD_UNSEEN + 40];

	if (!t->unseen[0])
		return;
	(void)snprintf(text, sizeof text, "unknown, and so are stacks: %s", t->unseen);
	as_put_label(s, "loop lag", AS_YELLOW);
	as_put_wrapped(s->out, s->look, text, AS_TEXT_AT, AS_TEXT_AT);
}

static void put_lag(const struct as_sheet *s, const struct as_load_target *t)
{
	struct as_flow f = {s->out, s->look, 2, "loop lag    ", AS_INK_NONE, 0};

	if (!t->lags) {
		put_unseen(s, t);
		return;
	}
	as_flow_add(&f, "p50 %s", as_human_duration(t->lag_p50).s);
	as_flow_add(&f, "p99 %s", as_human_duration(t->lag_p99).s);
	as_flow_add(&f, "max %s", as_human_duration(t->lag_max).s);
	as_flow_add(&f, "%s of %s were 10 ms or longer", as_human_count((double)t->blocks).s,
		    as_human_count((double)t->lags).s);
	as_flow_end(&f);
}

static void put_session(const struct as_sheet *s, const struct as_load_target *t)
{
	struct as_flow f = {s->out, s->look, 2, "session     ", AS_INK_NONE, 0};
	bool kept = t->session_how == AS_SESSION_KEPT;

	if (t->session_how == AS_SESSION_NONE)
		return;
	if (t->session_bytes == AS_NA) {
		as_flow_add(&f, "memory unknown");
		as_flow_add(&f, "%s at once are too few to tell",
			    as_human_count((double)t->sessions).s);
	} else {
		as_flow_add(&f, "%s memory each, %s", as_human_bytes((double)t->session_bytes).s,
			    kept ? "kept after its end" : "at most");
		as_flow_add(&f, "%s more %s %s %s", as_human_bytes((double)t->session_growth).s,
			    kept ? "after" : "with", as_human_count((double)t->sessions).s,
			    kept ? "of them" : "at once");
	}
	as_flow_end(&f);
}

static void put_limit(const struct as_sheet *s, size_t i)
{
	const struct as_load_target *t = &s->run->load->target[i];
	struct as_verdict v;

	find_limit(s->run, i, &v);
	as_put_label(s, "limit", AS_INK_NONE);
	as_put_wrapped(s->out, s->look, v.sentence, AS_TEXT_AT, AS_TEXT_AT);
	if (t->ended_ns == AS_NA)
		return;
	as_put_label(s, "", AS_INK_NONE);
	as_ink(s->out, s->look, AS_RED);
	as_buf_fmt(s->out, "it ended after %s, before the load did",
		   as_human_duration(t->ended_ns).s);
	as_ink_end(s->out, s->look, AS_RED);
	as_end_line(s->out);
}

void as_put_load_targets(const struct as_sheet *s)
{
	for (size_t i = 0; i < s->run->load->ntargets; i++) {
		put_use(s, &s->run->load->target[i]);
		put_lag(s, &s->run->load->target[i]);
		put_session(s, &s->run->load->target[i]);
		put_limit(s, i);
	}
}

/* ── as JSON ──────────────────────────────────────────────────────────── */

static double scaled(int64_t v, double by)
{
	return v == AS_NA ? (double)NAN : (double)v / by;
}

static void put_lag_json(struct as_json *j, const struct as_load_target *t)
{
	if (!t->lags) {
		as_json_na(j, "loop_lag_ms");
		return;
	}
	as_json_open(j, "loop_lag_ms", '{');
	as_json_f64(j, "p50", scaled(t->lag_p50, AS_MSEC));
	as_json_f64(j, "p99", scaled(t->lag_p99, AS_MSEC));
	as_json_f64(j, "max", scaled(t->lag_max, AS_MSEC));
	as_json_i64(j, "periods", (int64_t)t->lags);
	as_json_i64(j, "blocks", (int64_t)t->blocks);
	as_json_close(j);
}

void as_put_session_json(struct as_json *j, const struct as_load_target *t)
{
	static const char *const how[] = {
		[AS_SESSION_FEW] = "few", [AS_SESSION_HELD] = "held", [AS_SESSION_KEPT] = "kept"};

	if (!t || t->session_how == AS_SESSION_NONE) {
		as_json_na(j, "session_memory");
		return;
	}
	as_json_open(j, "session_memory", '{');
	as_json_str(j, "server", t->name);
	as_json_str(j, "how", how[t->session_how]);
	as_json_value(j, "bytes", t->session_bytes);
	as_json_value(j, "growth_bytes", t->session_growth);
	as_json_i64(j, "sessions", (int64_t)t->sessions);
	as_json_close(j);
}

static void put_json(struct as_json *j, const char *key, const struct as_run *run, size_t i)
{
	const struct as_load_target *t = &run->load->target[i];
	struct as_verdict v;

	find_limit(run, i, &v);
	as_json_open(j, key, '{');
	as_json_str(j, "name", t->name);
	as_json_i64(j, "pid", t->pid);
	as_json_str(j, "run", t->run[0] ? t->run : run->who.id);
	as_json_f64(j, "cpu_seconds", scaled(t->cpu_ns, 1e9));
	as_json_f64(j, "cores", t->cores);
	as_json_f64(j, "cores_most", t->cores_most);
	as_json_value(j, "memory_peak_bytes", t->memory);
	as_json_value(j, "processes", t->processes);
	as_json_value(j, "threads", t->threads);
	as_json_value(j, "files", t->files);
	put_lag_json(j, t);
	as_json_str(j, "unseen", t->unseen[0] ? t->unseen : NULL);
	as_put_session_json(j, t);
	as_json_f64(j, "ended_seconds", scaled(t->ended_ns, 1e9));
	as_json_str(j, "limit", v.sentence);
	as_json_close(j);
}

void as_put_load_targets_json(struct as_json *j, const struct as_run *run)
{
	if (run->load->ntargets)
		put_json(j, "target", run, 0);
	else
		as_json_na(j, "target");
	as_json_open(j, "watched", '[');
	for (size_t i = 0; i < run->load->ntargets; i++)
		put_json(j, NULL, run, i);
	as_json_close(j);
}
