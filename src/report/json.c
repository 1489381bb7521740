/*
 * The run document, schema docs/schema/run-1.json: Keystone's record on top
 * (record.h), the whole run under "assay". Nothing is rounded and nothing
 * unknown is a number.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "judge/growth.h"
#include "report/document.h"
#include "report/heap_note.h"
#include "report/known.h"
#include "report/load.h"
#include "report/moments.h"
#include "report/phases.h"
#include "report/record.h"
#include "report/report.h"
#include "report/stacks.h"
#include "report/words.h"
#include "run/sofar.h"

/* Whole numbers are most of what there is, and are much faster written as such. */
static void put_f64(struct as_json *j, const char *key, double v)
{
	if (fabs(v) < 0x1p53 && v == floor(v))
		as_json_i64(j, key, (int64_t)v);
	else
		as_json_f64(j, key, v);
}

/* ── who, how it ended ────────────────────────────────────────────────── */

static void put_identity(struct as_json *j, const struct as_identity *who)
{
	as_json_open(j, "identity", '{');
	as_json_str(j, "id", who->id);
	as_json_str(j, "name", who->name);
	as_json_str(j, "version", who->version);
	as_json_str(j, "kind", who->kind);
	as_json_str(j, "parent", who->parent);
	as_json_open(j, "command", '[');
	for (size_t i = 0; i < who->argc; i++)
		as_json_str(j, NULL, who->argv[i]);
	as_json_close(j);
	as_put_pairs(j, "labels", who->labels, who->nlabels, false);
	as_put_pairs(j, "params", who->params, who->nparams, false);
	as_json_str(j, "host", who->host);
	as_json_str(j, "user", who->user);
	as_json_str(j, "cwd", who->cwd);
	as_json_str(j, "git", who->git);
	as_json_str(j, "boot_id", who->boot_id);
	as_json_value(j, "start_ns", who->start_ns);
	as_json_value(j, "boottime_ns", who->boottime_ns);
	as_json_f64(j, "interval_seconds", as_seconds(who->interval_ns));
	as_json_value(j, "target", who->target ? who->target : AS_NA);
	as_json_f64(j, "cpus", as_cpus_allowed(who));
	as_json_value(j, "memory_bytes", who->memory > 0 ? who->memory : AS_NA);
	as_json_close(j);
}

static void put_signal(struct as_json *j, int signal)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	if (signal)
		as_put_signal(&name, signal);
	as_json_str(j, "signal_name", signal ? as_buf_text(&name) : NULL);
	j->out->bad |= name.bad;
}

static void put_outcome(struct as_json *j, const struct as_outcome *end)
{
	as_json_open(j, "outcome", '{');
	as_json_str(j, "status", as_status_name(end->status));
	as_json_value(j, "exit_code", end->exit_code < 0 ? AS_NA : end->exit_code);
	as_json_value(j, "signal", end->signal ? end->signal : AS_NA);
	put_signal(j, end->signal);
	as_json_value(j, "duration_ns", end->duration_ns);
	as_json_i64(j, "survivors", end->survivors);
	as_json_value(j, "unmeasured", end->unmeasured);
	as_json_str(j, "error", end->error);
	as_json_close(j);
}

static void put_known(struct as_json *j, enum as_provenance how, const char *source)
{
	as_json_str(j, "provenance", as_provenance_name(how));
	as_json_str(j, "source", source);
}

static void put_totals(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "totals", '{');
	for (size_t id = 0; id < AS_NTOTALS; id++) {
		struct as_total t = as_total_so_far(run, (enum as_total_id)id);

		as_json_open(j, as_totals[id].key, '{');
		as_json_value(j, "value", t.value);
		as_json_str(j, "unit", as_unit_name(as_totals[id].unit));
		put_known(j, t.value == AS_NA ? AS_UNAVAILABLE : t.how, t.source);
		as_json_close(j);
	}
	as_json_close(j);
}

/* ── metrics ──────────────────────────────────────────────────────────── */

/* The unit of mean, min, max and last: counters are told as rates. */
static const char *shown_unit(const struct as_field *f)
{
	static const char *const rates[] = {[AS_NS] = "ratio",
					    [AS_BYTES] = "bytes/s",
					    [AS_COUNT] = "count/s",
					    [AS_RATIO] = "ratio/s"};

	return f->kind == AS_COUNTER ? rates[f->unit] : as_unit_name(f->unit);
}

static void put_tally(struct as_json *j, enum as_field_id f, const struct as_tally *t)
{
	put_f64(j, "mean", as_tally_shown(f, t->mean));
	put_f64(j, "min", as_tally_shown(f, t->min));
	put_f64(j, "max", as_tally_shown(f, t->max));
	put_f64(j, "last", as_tally_shown(f, t->last));
}

static void put_metric(struct as_json *j, const struct as_run *run, enum as_field_id f)
{
	const struct as_tally none = as_tally_new(), *t = as_run_tally(run, f, 0);

	as_json_open(j, as_fields[f].key, '{');
	put_tally(j, f, t ? t : &none);
	as_json_str(j, "unit", shown_unit(&as_fields[f]));
	as_json_str(j, "kind", as_fields[f].kind == AS_COUNTER ? "counter" : "gauge");
	put_known(j, run->origins[f].how, run->origins[f].source);
	as_json_close(j);
}

static void put_metrics(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "metrics", '{');
	for (size_t f = 0; f < AS_NFIELDS; f++)
		if (as_scope_info(as_fields[f].scope)->single &&
		    as_field_wanted(run, (enum as_field_id)f))
			put_metric(j, run, (enum as_field_id)f);
	as_json_close(j);
}

/* Where the metrics of lists come from, or why they do not; those above say it themselves. */
static void put_origins(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "origins", '{');
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		if (as_scope_info(as_fields[f].scope)->single || !run->origins[f].source[0])
			continue;
		as_json_open(j, as_fields[f].key, '{');
		put_known(j, run->origins[f].how, run->origins[f].source);
		as_json_close(j);
	}
	as_json_close(j);
}

/* ── instances ────────────────────────────────────────────────────────── */

/* For each metric that was known: its spread, and the last value as it was read. */
static void put_own_metrics(struct as_json *j, const struct as_instance *i)
{
	const struct as_scope_info *s = as_scope_info(i->scope);

	as_json_open(j, "metrics", '{');
	for (size_t c = 0; c < s->n; c++) {
		enum as_field_id f = (enum as_field_id)(s->first + c);
		struct as_tally t = as_instance_tally(i, c);

		if (!t.n)
			continue;
		as_json_open(j, as_fields[f].key, '{');
		put_tally(j, f, &t);
		if (as_fields[f].kind == AS_COUNTER)
			as_json_value(j, "total", i->last[c]);
		as_json_close(j);
	}
	as_json_close(j);
}

/* Where it belongs, and when it was there: of processes and threads. */
static void put_life(struct as_json *j, const struct as_instance *i)
{
	as_json_value(j, i->scope == AS_THREAD ? "process" : "parent",
		      i->parent == AS_NO_PARENT ? AS_NA : (int64_t)i->parent);
	as_json_value(j, "born_ns", i->born_ns);
	as_json_value(j, "died_ns", i->died_ns);
}

static void put_instance(struct as_json *j, const struct as_instance *i)
{
	const struct as_scope_info *info = as_scope_info(i->scope);

	as_json_open(j, NULL, '{');
	as_json_i64(j, "id", i->id);
	if (info->number)
		as_json_i64(j, info->number, i->key);
	if (i->scope != AS_CORE)
		as_json_str(j, "name", i->name);
	if (i->scope == AS_PROCESS || i->scope == AS_THREAD)
		put_life(j, i);
	if (info->detail)
		as_json_str(j, info->detail, i->detail);
	if (i->scope == AS_PROCESS)
		as_json_value(j, "wait_status", i->ended_by);
	put_own_metrics(j, i);
	as_json_close(j);
}

static void put_instances(struct as_json *j, const struct as_run *run, enum as_scope scope,
			  enum as_lists lists)
{
	if (as_scope_info(scope)->single)
		return;
	if (lists == AS_LISTS_COLUMNS) {
		as_put_columns(j, run, scope);
		return;
	}
	if (scope == AS_SOCKET) {
		as_put_sockets_json(j, run);
		return;
	}
	as_json_open(j, as_scope_info(scope)->plural, '[');
	for (size_t i = 0; i < run->ninstances; i++)
		if (run->instances[i].scope == scope)
			put_instance(j, &run->instances[i]);
	as_json_close(j);
}

/* ── timeline ─────────────────────────────────────────────────────────── */

/* One column: cumulative values of a counter, in the unit of the field (ratios as ratios). */
static void put_column(struct as_json *j, const struct as_run *run, enum as_field_id f,
		       enum as_which which)
{
	struct as_moments m = {.run = run};

	as_json_open(j, as_fields[f].key, '[');
	while (as_moments_next(&m)) {
		int64_t v = as_moments_cell(&m, f, which);

		if (v != AS_NA && as_fields[f].unit == AS_RATIO)
			as_json_f64(j, NULL, (double)v / (double)AS_RATIO_ONE);
		else
			as_json_value(j, NULL, v);
	}
	as_json_close(j);
}

static void put_columns(struct as_json *j, const struct as_run *run, const char *key,
			enum as_which which)
{
	as_json_open(j, key, '{');
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		const struct as_series *s = run->series[as_fields[f].scope];

		/* Smallest and largest exist where samples of a gauge were joined. */
		if (!as_field_timed(run, (enum as_field_id)f) ||
		    (which != AS_MEAN && (as_fields[f].kind == AS_COUNTER || !s->max)))
			continue;
		put_column(j, run, (enum as_field_id)f, which);
	}
	as_json_close(j);
}

static void put_timeline(struct as_json *j, const struct as_run *run)
{
	struct as_moments m = {.run = run};
	uint32_t joined = 0;

	as_json_open(j, "timeline", '{');
	as_json_open(j, "t_ns", '[');
	while (as_moments_next(&m))
		as_json_i64(j, NULL, m.t);
	as_json_close(j);
	for (int s = 0; s < AS_NSCOPES; s++)
		if (run->series[s] && run->series[s]->joined > joined)
			joined = run->series[s]->joined;
	as_json_i64(j, "joined", joined);
	put_columns(j, run, "columns", AS_MEAN);
	if (joined) {
		put_columns(j, run, "min", AS_LEAST);
		put_columns(j, run, "max", AS_MOST);
	}
	as_json_close(j);
}

/* ── verdict, own cost ────────────────────────────────────────────────── */

static void put_verdict(struct as_json *j, const struct as_verdict *v)
{
	if (!v->kind[0]) {
		as_json_na(j, "verdict");
		return;
	}
	as_json_open(j, "verdict", '{');
	as_json_str(j, "kind", v->kind);
	as_json_str(j, "sentence", v->sentence);
	as_json_str(j, "advice", v->advice);
	as_json_f64(j, "confidence", v->confidence);
	as_json_open(j, "evidence", '[');
	for (size_t i = 0; i < v->nevidence && i < AS_EVIDENCE_MAX; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "what", v->evidence[i].what);
		as_json_str(j, "value", v->evidence[i].value);
		as_json_close(j);
	}
	as_json_close(j);
	as_json_close(j);
}

static void put_growth(struct as_json *j, const struct as_run *run)
{
	struct as_growth g = as_growth_of(run);

	as_json_open(j, "growth", '{');
	as_json_str(j, "answer", as_growth_name(g.answer));
	as_json_str(j, "why", *g.why ? g.why : NULL);
	as_json_f64(j, "bytes_per_hour", g.rate * 3600);
	as_json_f64(j, "low", g.low * 3600);
	as_json_f64(j, "high", g.high * 3600);
	as_json_f64(j, "span_seconds", g.span);
	as_json_f64(j, "limit_bytes", g.limit);
	as_json_f64(j, "full_in_seconds", g.left);
	as_json_close(j);
}

static void put_self(struct as_json *j, const struct as_run *run)
{
	as_json_open(j, "self", '{');
	as_json_f64(j, "cpu_seconds", as_total_value(run, AS_T_SELF_CPU) / 1e9);
	as_json_value(j, "memory_peak_bytes", run->totals[AS_T_SELF_RSS].value);
	as_json_i64(j, "samples", (int64_t)as_run_samples(run));
	as_json_value(j, "late", run->totals[AS_T_SELF_LATE].value);
	as_json_f64(j, "interval_seconds", as_true_interval(run));
	as_json_close(j);
}

void as_put_document(struct as_json *j, const char *key, const struct as_run *run,
		     enum as_lists lists)
{
	as_json_open(j, key, '{');
	as_json_str(j, "schema", "assay/run/1");
	as_put_record(&(struct as_record){j, run, false, 240});
	as_json_open(j, "assay", '{');
	as_json_str(j, "version", ASSAY_VERSION);
	put_identity(j, &run->who);
	put_outcome(j, &run->end);
	put_verdict(j, &run->verdict);
	put_growth(j, run);
	as_put_phases_json(j, run);
	put_totals(j, run);
	put_metrics(j, run);
	put_origins(j, run);
	for (int s = 0; s < AS_NSCOPES; s++)
		put_instances(j, run, (enum as_scope)s, lists);
	as_put_sockets_unlisted(j, run);
	as_json_i64(j, "unlisted", (int64_t)run->unlisted);
	put_timeline(j, run);
	as_put_stacks_json(j, run);
	as_put_load_json(j, run);
	as_put_heap_note_json(j, run);
	put_self(j, run);
	as_json_close(j);
	as_json_close(j);
}

void as_report_json(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json(out);

	as_put_document(&j, NULL, run, AS_LISTS_WHOLE);
	as_buf_byte(out, '\n');
}
