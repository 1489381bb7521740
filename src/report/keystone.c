/*
 * Keystone's jobs_history.jsonl and its three screens (contracts 4.2, 4.3).
 * Whoever parses those finds the same words at the same places; numbers that
 * are not known are "-", which Keystone never had to say.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "report/glyph.h"
#include "report/metric.h"
#include "report/record.h"
#include "report/report.h"
#include "report/words.h"
#include "run/sofar.h"

enum { RULE = 60, ERROR_MAX = 100, POINTS = 60 };

static const double MIB = 1024.0 * 1024.0;

void as_report_keystone(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	as_put_record(&(struct as_record){&j, run, true, POINTS});
	as_json_close(&j);
	as_buf_byte(out, '\n');
}

/* ── words ────────────────────────────────────────────────────────────── */

/* "12.40" and its unit, or "-". */
static void put_number(struct as_buf *out, double v, const char *unit)
{
	if (isfinite(v))
		as_buf_fmt(out, "%.2f%s", v, unit);
	else
		as_buf_byte(out, '-');
}

static double seconds(int64_t ns)
{
	return ns == AS_NA ? (double)NAN : as_seconds(ns);
}

static void put_upper(struct as_buf *out, enum as_status status)
{
	for (const char *p = as_status_name(status); *p; p++)
		as_buf_byte(out, (char)toupper((unsigned char)*p));
}

static void put_cpu(struct as_buf *out, double all, double user, double system)
{
	put_number(out, all, "s");
	as_buf_str(out, " (user: ");
	put_number(out, user, "s");
	as_buf_str(out, ", system: ");
	put_number(out, system, "s");
	as_buf_str(out, ")\n");
}

/* Long ids (imported ones) are cut as Keystone cuts them. */
static void put_id(struct as_buf *out, const char *id)
{
	if (strlen(id) > 15)
		as_buf_fmt(out, "%.12s...", id);
	else
		as_buf_str(out, id);
}

static void put_when(struct as_buf *out, int64_t realtime_ns)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&text);

	as_put_iso(&j, NULL, realtime_ns);
	if (text.len > 2 && text.p[0] == '"')
		as_buf_add(out, text.p + 1, text.len - 2);
	else
		as_buf_byte(out, '-');
	out->bad |= text.bad;
}

static void put_rule(struct as_buf *out, char c)
{
	as_buf_fill(out, c, RULE);
	as_buf_byte(out, '\n');
}

static void put_title(struct as_buf *out, const char *title)
{
	as_buf_fmt(out, "\n%s:\n", title);
}

/* ── job-history ──────────────────────────────────────────────────────── */

/* The script of a listing, whose command is one line of words. */
static void put_script(struct as_buf *out, const struct as_listing *l)
{
	char text[sizeof l->command];
	char *argv[32];
	struct as_identity who = {.argv = argv};
	char *rest = text;

	memcpy(text, l->command, sizeof text);
	text[sizeof text - 1] = '\0';
	for (char *word; who.argc < AS_LEN(argv) && (word = strsep(&rest, " "));)
		if (*word)
			argv[who.argc++] = word;
	(void)as_put_clean(out, as_script_of(&who) ? as_script_of(&who) : "-",
			   strlen(as_script_of(&who) ? as_script_of(&who) : "-"), RULE);
}

static void put_entry(struct as_buf *out, const struct as_listing *l, size_t number)
{
	as_buf_fmt(out, "\n%zu. Task: ", number);
	put_id(out, l->id);
	as_buf_str(out, "\n   Tool: ");
	(void)as_put_clean(out, l->name, strnlen(l->name, sizeof l->name), RULE);
	as_buf_str(out, "\n   Script: ");
	put_script(out, l);
	as_buf_str(out, "\n   Status: ");
	put_upper(out, l->status);
	as_buf_str(out, "\n   Started: ");
	put_when(out, l->start_ns);
	as_buf_str(out, "\n   Duration: ");
	put_number(out, seconds(l->duration_ns), "s");
	as_buf_str(out, "\n   CPU Time: ");
	put_cpu(out, seconds(l->cpu_ns), seconds(l->cpu_user_ns), seconds(l->cpu_system_ns));
	as_buf_str(out, "   Memory Peak: ");
	put_number(out, l->peak_bytes == AS_NA ? (double)NAN : (double)l->peak_bytes / MIB, " MB");
	as_buf_byte(out, '\n');
	if (l->error[0]) {
		size_t len = strnlen(l->error, ERROR_MAX);

		as_buf_str(out, "   Error: ");
		(void)as_put_clean(out, l->error, len, ERROR_MAX);
		as_buf_byte(out, '\n');
	}
}

void as_report_job_history(struct as_buf *out, const struct as_listing *l, size_t n)
{
	if (!n) {
		as_buf_str(out, "No job history found\n");
		return;
	}
	as_buf_fmt(out, "Job History (showing %zu jobs):\n", n);
	put_rule(out, '=');
	for (size_t i = 0; i < n; i++)
		put_entry(out, &l[i], i + 1);
}

/* ── job-details ──────────────────────────────────────────────────────── */

static void put_text(struct as_buf *out, const struct as_look *look, const char *label,
		     const char *text)
{
	as_buf_fmt(out, "  %s: ", label);
	(void)as_put_name(out, text, look->width - 4 - (int)strlen(label));
	as_buf_byte(out, '\n');
}

static void put_value(struct as_buf *out, const char *label, double v, const char *unit)
{
	as_buf_fmt(out, "  %s: ", label);
	put_number(out, v, unit);
	as_buf_byte(out, '\n');
}

static void put_basics(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const struct as_outcome *end = &run->end;

	put_title(out, "Basic Information");
	put_text(out, look, "Task ID", run->who.id);
	put_text(out, look, "Tool", as_tool_of(&run->who));
	put_text(out, look, "Script", as_script_of(&run->who));
	as_buf_str(out, "  Status: ");
	put_upper(out, end->status);
	as_buf_str(out, "\n  Return Code: ");
	if (end->signal || end->exit_code >= 0)
		as_buf_fmt(out, "%d\n", end->signal ? -end->signal : end->exit_code);
	else
		as_buf_str(out, "-\n");
}

static void put_timing(struct as_buf *out, const struct as_run *run)
{
	bool over = run->end.status != AS_RUNNING;

	put_title(out, "Timing");
	as_buf_str(out, "  Started: ");
	put_when(out, run->who.start_ns);
	as_buf_str(out, "\n  Ended: ");
	put_when(out, over ? run->who.start_ns + run->end.duration_ns : AS_NA);
	as_buf_byte(out, '\n');
	put_value(out, "Duration", as_seconds(run->end.duration_ns), "s");
}

static void put_params(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	if (!run->who.nparams)
		return;
	put_title(out, "Parameters");
	for (size_t i = 0; i < run->who.nparams; i++) {
		as_buf_str(out, "  ");
		int used = 2 + as_put_name(out, run->who.params[i].key, look->width / 2);
		as_buf_str(out, ": ");
		(void)as_put_name(out, run->who.params[i].value, look->width - used - 2);
		as_buf_byte(out, '\n');
	}
}

static void put_resources(struct as_buf *out, const struct as_run *run)
{
	put_title(out, "Resource Usage");
	put_value(out, "CPU User Time", as_total_value(run, AS_T_CPU_USER) / 1e9, "s");
	put_value(out, "CPU System Time", as_total_value(run, AS_T_CPU_SYSTEM) / 1e9, "s");
	put_value(out, "CPU Total Time", as_total_value(run, AS_T_CPU) / 1e9, "s");
	put_value(out, "Memory Peak", as_total_value(run, AS_T_MEM_PEAK) / MIB, " MB");
}

static void put_spread(struct as_buf *out, const char *label, struct as_spread s, double times,
		       const char *unit)
{
	as_buf_fmt(out, "  %s: mean ", label);
	put_number(out, s.mean * times, unit);
	as_buf_str(out, ", max ");
	put_number(out, s.max * times, unit);
	as_buf_str(out, ", min ");
	put_number(out, s.min * times, unit);
	as_buf_byte(out, '\n');
}

static struct as_spread spread_of(const struct as_run *run, enum as_line line)
{
	const struct as_metric *m = as_metric_of(run, line);

	return m ? as_metric_spread(run, m) : (struct as_spread){NAN, NAN, NAN, NAN};
}

static struct as_spread field_spread(const struct as_run *run, enum as_field_id f)
{
	return as_metric_spread(run, &(struct as_metric){{f}, 1});
}

static void put_profile(struct as_buf *out, const struct as_run *run)
{
	double in = as_total_value(run, AS_T_READ), written = as_total_value(run, AS_T_WRITE);

	put_title(out, "Detailed Profile");
	as_buf_fmt(out, "  Samples: %llu, every ", (unsigned long long)as_run_samples(run));
	put_number(out, as_true_interval(run), "s");
	as_buf_byte(out, '\n');
	put_spread(out, "System CPU", as_system_busy(run), 100, "%");
	put_spread(out, "System Memory", field_spread(run, AS_F_SYS_MEM_USED), 1 / MIB, " MB");
	put_spread(out, "Process CPU", spread_of(run, AS_L_CPU), 100, "%");
	put_spread(out, "Process Memory", spread_of(run, AS_L_MEMORY), 1 / MIB, " MB");
	put_spread(out, "Process VMS", field_spread(run, AS_F_JOB_VMS), 1 / MIB, " MB");
	as_buf_str(out, "  Disk I/O: read ");
	put_number(out, in / MIB, " MB");
	as_buf_str(out, ", written ");
	put_number(out, written / MIB, " MB");
	as_buf_byte(out, '\n');
}

static void put_curve(struct as_buf *out, const struct as_look *look, const struct as_run *run,
		      const char *label, enum as_line line)
{
	const struct as_metric *m = as_metric_of(run, line);
	double v[POINTS];

	if (!m || !as_metric_draw(run, m, v, POINTS))
		return;
	as_buf_fmt(out, "  %-15s ", label);
	as_put_spark(out, look, v, POINTS, look->width - 18 < POINTS ? look->width - 18 : POINTS);
	as_end_line(out);
}

void as_report_job_details(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	size_t from = out->len;

	as_buf_str(out, "Job Details\n");
	put_rule(out, '=');
	put_basics(out, look, run);
	put_timing(out, run);
	put_params(out, look, run);
	put_resources(out, run);
	put_profile(out, run);
	put_curve(out, look, run, "CPU", AS_L_CPU);
	put_curve(out, look, run, "Memory", AS_L_MEMORY);
	if (run->end.error) {
		put_title(out, "Error Details");
		as_buf_str(out, "  ");
		as_put_wrapped(out, look, run->end.error, 2, 2);
	}
	as_page_end(out, look, from);
}

/* ── job-stats ────────────────────────────────────────────────────────── */

/* Keystone knows two ends only: success, and everything else. */
static uint64_t not_successful(const struct as_name_stats *s)
{
	return s->failed + s->timeout + s->error + s->interrupted;
}

static struct as_name_stats sum_of(const struct as_name_stats *s, size_t n)
{
	struct as_name_stats all = {0};

	for (size_t i = 0; i < n; i++) {
		all.count += s[i].count;
		all.success += s[i].success;
		all.failed += not_successful(&s[i]);
		all.duration_sum_ns += s[i].duration_sum_ns;
		all.cpu_sum_ns += s[i].cpu_sum_ns;
		all.cpu_known += s[i].cpu_known;
	}
	return all;
}

static void put_tool(struct as_buf *out, const struct as_name_stats *s)
{
	as_buf_str(out, "  ");
	(void)as_put_clean(out, s->name, strnlen(s->name, sizeof s->name), RULE);
	as_buf_fmt(out, ":\n    Jobs: %llu (successful: %llu, failed: %llu)\n",
		   (unsigned long long)s->count, (unsigned long long)s->success,
		   (unsigned long long)not_successful(s));
	as_buf_str(out, "    Total Duration: ");
	put_number(out, as_seconds(s->duration_sum_ns), "s\n");
}

void as_report_job_stats(struct as_buf *out, const struct as_name_stats *s, size_t n)
{
	struct as_name_stats all = sum_of(s, n);

	if (!all.count) {
		as_buf_str(out, "No jobs recorded yet\n");
		return;
	}
	as_buf_str(out, "Job Statistics\n");
	put_rule(out, '=');
	put_title(out, "Overall");
	as_buf_fmt(out, "  Total Jobs: %llu\n  Successful: %llu\n  Failed: %llu\n",
		   (unsigned long long)all.count, (unsigned long long)all.success,
		   (unsigned long long)all.failed);
	put_value(out, "Success Rate", 100.0 * (double)all.success / (double)all.count, "%");
	put_title(out, "Resource Usage");
	put_value(out, "Total CPU Time", all.cpu_known ? as_seconds(all.cpu_sum_ns) : (double)NAN,
		  "s");
	put_value(out, "Total Duration", as_seconds(all.duration_sum_ns), "s");
	put_value(out, "Average Duration", as_seconds(all.duration_sum_ns) / (double)all.count,
		  "s");
	put_title(out, "By Tool");
	for (size_t i = 0; i < n; i++)
		put_tool(out, &s[i]);
}
