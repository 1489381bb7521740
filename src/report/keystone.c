/*
 * Keystone's jobs_history.jsonl and its three screens (contracts 4.2, 4.3).
 *
 * Scripts cut these screens into lines: every line has its words and its place,
 * numbers look as Python prints them, and nothing is shortened to fit a
 * terminal. What is not known is "N/A". Ours alone is the last part of a job's
 * page, the profile, which Keystone promised and never printed.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_doc.h"
#include "report/glyph.h"
#include "report/page.h"
#include "report/record.h"
#include "report/report.h"
#include "report/words.h"
#include "run/sofar.h"

enum {
	ERROR_MAX = 100, /* characters of an error in a list       */
	POINTS = 60,     /* of the time series in a line of JSON   */
	ROWS = 10,       /* of the time series on a page           */
	WHOLE = 1 << 20, /* columns: never cut                     */
};

static const double MIB = 1024.0 * 1024.0;

void as_report_keystone(struct as_buf *out, const struct as_run *run)
{
	struct as_json j = as_json(out);

	as_json_open(&j, NULL, '{');
	if (as_is_imported(run))
		as_put_imported(&j, run);
	else
		as_put_record(&(struct as_record){&j, run, true, POINTS});
	as_json_close(&j);
	as_buf_byte(out, '\n');
}

/* ── words ────────────────────────────────────────────────────────────── */

static void put_number(struct as_buf *out, double v, const char *unit)
{
	if (!isfinite(v)) {
		as_buf_str(out, "N/A");
		return;
	}
	as_put_python(out, v, 2);
	as_buf_str(out, unit);
}

static void put_value(struct as_buf *out, const char *lead, double v, const char *unit)
{
	as_buf_str(out, lead);
	put_number(out, v, unit);
	as_buf_byte(out, '\n');
}

/* A line of outside text. */
static void put_text(struct as_buf *out, const char *lead, const char *text)
{
	as_buf_str(out, lead);
	(void)as_put_name(out, text ? text : "N/A", WHOLE);
	as_buf_byte(out, '\n');
}

/* Outside text that may have lines: only the first is indented, as Keystone does it. */
static void put_lines(struct as_buf *out, const char *text)
{
	as_buf_str(out, "  ");
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		(void)as_put_clean(out, text, n, WHOLE);
		as_buf_byte(out, '\n');
	}
}

static void put_when(struct as_buf *out, const char *lead, int64_t realtime_ns)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_LINE);
	struct as_json j = as_json(&text);

	as_put_iso(&j, NULL, realtime_ns);
	as_buf_str(out, lead);
	if (text.len > 2 && text.p[0] == '"')
		as_buf_add(out, text.p + 1, text.len - 2);
	else
		as_buf_str(out, "N/A");
	as_buf_byte(out, '\n');
	out->bad |= text.bad;
}

static void put_status(struct as_buf *out, const struct as_look *look, const char *lead,
		       enum as_status status)
{
	as_buf_str(out, lead);
	as_ink(out, look, AS_BOLD);
	as_ink(out, look, as_status_ink(status));
	for (const char *p = as_status_name(status); *p; p++)
		as_buf_byte(out, (char)toupper((unsigned char)*p));
	as_ink_end(out, look, AS_BOLD);
	as_buf_byte(out, '\n');
}

/* What stands over a screen: an empty line, the title, an empty line. */
static void put_title(struct as_buf *out, const struct as_look *look, const char *title)
{
	as_buf_byte(out, '\n');
	as_ink(out, look, AS_BOLD);
	as_put_ink(out, look, AS_BLUE, title);
	as_buf_str(out, "\n\n");
}

static void put_head(struct as_buf *out, const struct as_look *look, const char *head)
{
	as_put_ink(out, look, AS_BOLD, head);
	as_buf_byte(out, '\n');
}

/* A line that says that there is nothing. */
static void put_nothing(struct as_buf *out, const struct as_look *look, const char *sentence)
{
	as_put_ink(out, look, AS_YELLOW, sentence);
	as_buf_byte(out, '\n');
}

static double usage(const struct as_run *run, enum as_total_id id)
{
	return as_total_value(run, id) / (id == AS_T_MEM_PEAK ? MIB : 1e9);
}

/* ── job-history ──────────────────────────────────────────────────────── */

/* How many bytes the first `n` characters are. */
static size_t first(const char *text, int n)
{
	size_t at = 0, all = strlen(text);
	int32_t c;

	for (; n > 0 && at < all; n--)
		at += as_glyph_read(text + at, all - at, &c);
	return at;
}

/* Long ids are cut as Keystone cuts them. */
static void put_task(struct as_buf *out, const char *id)
{
	bool cut = first(id, 15) < strlen(id);

	(void)as_put_clean(out, id, cut ? first(id, 12) : strlen(id), WHOLE);
	as_buf_str(out, cut ? "...\n" : "\n");
}

static void put_cpu(struct as_buf *out, const struct as_run *run)
{
	as_buf_str(out, "   CPU Time: ");
	put_number(out, usage(run, AS_T_CPU), "s");
	as_buf_str(out, " (user: ");
	put_number(out, usage(run, AS_T_CPU_USER), "s");
	as_buf_str(out, ", system: ");
	put_number(out, usage(run, AS_T_CPU_SYSTEM), "s");
	as_buf_str(out, ")\n");
}

/* The first characters of an error, and three points behind them even when that is all of it. */
static void put_error(struct as_buf *out, const struct as_look *look, const char *error)
{
	as_buf_str(out, "   ");
	as_put_ink(out, look, AS_RED, "Error:");
	as_buf_byte(out, ' ');
	(void)as_put_clean(out, error, first(error, ERROR_MAX), WHOLE);
	as_buf_str(out, "...\n");
}

void as_report_job(struct as_buf *out, const struct as_look *look, const struct as_run *run,
		   size_t number)
{
	const char *script = as_script_of(&run->who);
	size_t from = out->len;

	as_ink(out, look, AS_BOLD);
	as_buf_fmt(out, "%zu.", number);
	as_ink_end(out, look, AS_BOLD);
	as_buf_str(out, " Task: ");
	put_task(out, as_task_of(&run->who));
	as_buf_str(out, "   Tool: ");
	(void)as_put_name(out, as_tool_of(&run->who), WHOLE);
	put_text(out, ", Script: ", script);
	put_status(out, look, "   Status: ", run->end.status);
	put_when(out, "   Started: ", run->who.start_ns);
	put_value(out, "   Duration: ", as_seconds(run->end.duration_ns), "s");
	put_cpu(out, run);
	put_value(out, "   Memory Peak: ", usage(run, AS_T_MEM_PEAK), " MB");
	if (run->end.error && *run->end.error)
		put_error(out, look, run->end.error);
	as_buf_byte(out, '\n');
	as_page_end(out, look, from);
}

void as_report_job_history(struct as_buf *out, const struct as_look *look, size_t n)
{
	char title[64];

	(void)snprintf(title, sizeof title, "Job History (showing %zu jobs):", n);
	if (n)
		put_title(out, look, title);
	else
		put_nothing(out, look, "No job history found");
}

/* ── job-details ──────────────────────────────────────────────────────── */

void as_report_job_unknown(struct as_buf *out, const struct as_look *look, const char *task)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);

	as_buf_str(&text, "Job ");
	(void)as_put_name(&text, task, WHOLE);
	as_buf_str(&text, " not found in history");
	put_nothing(out, look, as_buf_text(&text));
	out->bad |= text.bad;
}

static void put_basics(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	int code;

	put_head(out, look, "Basic Information:");
	put_text(out, "  Tool: ", as_tool_of(&run->who));
	put_text(out, "  Script: ", as_script_of(&run->who));
	put_status(out, look, "  Status: ", run->end.status);
	if (as_return_code(run, &code))
		as_buf_fmt(out, "  Return Code: %d\n\n", code);
	else
		as_buf_str(out, "  Return Code: N/A\n\n");
}

static void put_timing(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	const char *end = as_is_imported(run) ? as_label_of(&run->who, "end_time") : NULL;

	put_head(out, look, "Timing:");
	put_when(out, "  Started: ", run->who.start_ns);
	if (end)
		put_text(out, "  Ended: ", end);
	else
		put_when(out, "  Ended: ", as_end_of(run));
	put_value(out, "  Duration: ", as_seconds(run->end.duration_ns), "s");
	as_buf_byte(out, '\n');
}

static void put_params(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	struct as_json j = as_json_pretty(&text);

	if (!run->who.nparams)
		return;
	as_put_params(&j, NULL, run);
	put_head(out, look, "Parameters:");
	put_lines(out, as_buf_text(&text));
	as_buf_byte(out, '\n');
	out->bad |= text.bad;
}

static void put_usage(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	put_head(out, look, "Resource Usage:");
	put_value(out, "  CPU User Time: ", usage(run, AS_T_CPU_USER), "s");
	put_value(out, "  CPU System Time: ", usage(run, AS_T_CPU_SYSTEM), "s");
	put_value(out, "  CPU Total Time: ", usage(run, AS_T_CPU), "s");
	put_value(out, "  Memory Peak: ", usage(run, AS_T_MEM_PEAK), " MB");
	as_buf_byte(out, '\n');
}

static void put_failure(struct as_buf *out, const struct as_look *look, const char *error)
{
	if (!error || !*error)
		return;
	as_ink(out, look, AS_BOLD);
	as_put_ink(out, look, AS_RED, "Error Details:");
	as_buf_byte(out, '\n');
	put_lines(out, error);
	as_buf_byte(out, '\n');
}

/* ── the profile ──────────────────────────────────────────────────────── */

/* A line of the page: numbers of the record's detailed_profile, with a word before each. */
struct line {
	const char *lead, *unit;
	struct {
		const char *word, *path;
	} v[3];
};

static const struct line lines[] = {
	{"  Samples: ", "", {{"", "samples_collected"}}},
	{"  Sampling Interval: ", "s", {{"", "sampling_interval_seconds"}}},
	{"  CPU: ",
	 "%",
	 {{"mean ", "cpu/mean_percent"},
	  {", max ", "cpu/max_percent"},
	  {", min ", "cpu/min_percent"}}},
	{"  Memory Used: ",
	 " MB",
	 {{"mean ", "memory/mean_used_mb"},
	  {", max ", "memory/max_used_mb"},
	  {", min ", "memory/min_used_mb"}}},
	{"  Process CPU: ",
	 "%",
	 {{"mean ", "process_cpu/mean_percent"},
	  {", max ", "process_cpu/max_percent"},
	  {", min ", "process_cpu/min_percent"}}},
	{"  Process Memory: ",
	 " MB",
	 {{"mean ", "process_memory/mean_mb"},
	  {", max ", "process_memory/max_mb"},
	  {", min ", "process_memory/min_mb"}}},
	{"  Process VMS: ",
	 " MB",
	 {{"mean ", "process_memory/vms_mean_mb"},
	  {", max ", "process_memory/vms_max_mb"},
	  {", min ", "process_memory/vms_min_mb"}}},
	{"  I/O: ",
	 " MB",
	 {{"read ", "io_stats/read_mb"},
	  {", write ", "io_stats/write_mb"},
	  {", total ", "io_stats/total_io_mb"}}},
	{"  I/O Operations: ",
	 "",
	 {{"read ", "io_stats/read_count"}, {", write ", "io_stats/write_count"}}},
};

/* A number without a unit is a count. */
static void put_line(struct as_buf *out, const struct line *l, const struct as_json_doc *profile)
{
	as_buf_str(out, l->lead);
	for (size_t i = 0; i < AS_LEN(l->v) && l->v[i].word; i++) {
		double v = as_json_doc_number(profile, l->v[i].path);

		as_buf_str(out, l->v[i].word);
		if (!*l->unit && isfinite(v))
			as_buf_fmt(out, "%.0f", v);
		else
			put_number(out, v, l->unit);
	}
	as_buf_byte(out, '\n');
}

static const struct {
	const char *word, *path, *unit;
} columns[] = {
	{"", "t_seconds", "s"},
	{": CPU ", "process_cpu_percent", "%"},
	{", Memory ", "process_memory_mb", " MB"},
	{", VMS ", "process_vms_mb", " MB"},
};

static void put_series(struct as_buf *out, const struct as_json_doc *profile)
{
	size_t n = as_json_doc_count(profile, "time_series/t_seconds");
	char path[64];

	if (n)
		as_buf_str(out, "  Time Series:\n");
	for (size_t row = 0; row < n; row++) {
		as_buf_str(out, "    ");
		for (size_t i = 0; i < AS_LEN(columns); i++) {
			(void)snprintf(path, sizeof path, "time_series/%s/%zu", columns[i].path,
				       row);
			as_buf_str(out, columns[i].word);
			put_number(out, as_json_doc_number(profile, path), columns[i].unit);
		}
		as_buf_byte(out, '\n');
	}
}

/* The record's profile: the one that was imported, if any, or ours as it would be exported. */
static const char *profile_of(const struct as_run *run, struct as_buf *text)
{
	struct as_json j = as_json(text);

	if (as_is_imported(run))
		return as_label_of(&run->who, "detailed_profile");
	as_put_profile(&(struct as_record){&j, run, true, ROWS}, NULL);
	return as_buf_text(text);
}

static void put_profile(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_DOCUMENT);
	as_auto_json_doc struct as_json_doc *profile = NULL;
	const char *said = profile_of(run, &text);
	struct as_err err;

	if (!said)
		return;
	out->bad |= text.bad || as_json_doc_read(said, &profile, &err) == AS_ENOMEM;
	put_head(out, look, "Detailed Profile:");
	for (size_t i = 0; i < AS_LEN(lines); i++)
		put_line(out, &lines[i], profile);
	put_series(out, profile);
	as_buf_byte(out, '\n');
}

void as_report_job_details(struct as_buf *out, const struct as_look *look, const struct as_run *run)
{
	as_auto_buf struct as_buf title = AS_BUF(AS_BUF_FILE);
	size_t from = out->len;

	as_buf_str(&title, "Job Details: ");
	(void)as_put_name(&title, as_task_of(&run->who), WHOLE);
	put_title(out, look, as_buf_text(&title));
	out->bad |= title.bad;
	put_basics(out, look, run);
	put_timing(out, look, run);
	put_params(out, look, run);
	put_usage(out, look, run);
	put_failure(out, look, run->end.error);
	put_profile(out, look, run);
	as_page_end(out, look, from);
}

/* ── job-stats ────────────────────────────────────────────────────────── */

static struct as_name_stats sum_of(const struct as_name_stats *s, size_t n)
{
	struct as_name_stats all = {0};

	for (size_t i = 0; i < n; i++) {
		all.count += s[i].count;
		all.success += s[i].success;
		all.duration_sum_ns += s[i].duration_sum_ns;
		all.cpu_sum_ns += s[i].cpu_sum_ns;
		all.cpu_known += s[i].cpu_known;
	}
	return all;
}

static double rate(const struct as_name_stats *s)
{
	return 100.0 * (double)s->success / (double)s->count;
}

/* "  Successful: 3 (75.0%)" and "  Failed: 1": Keystone knows two ends, success and all others. */
static void put_ends(struct as_buf *out, const struct as_look *look, const char *indent,
		     const struct as_name_stats *s)
{
	as_buf_fmt(out, "%sSuccessful: ", indent);
	as_ink(out, look, AS_GREEN);
	as_buf_fmt(out, "%llu", (unsigned long long)s->success);
	as_ink_end(out, look, AS_GREEN);
	as_buf_str(out, " (");
	put_number(out, rate(s), "%)\n");
	as_buf_fmt(out, "%sFailed: ", indent);
	as_ink(out, look, AS_RED);
	as_buf_fmt(out, "%llu", (unsigned long long)(s->count - s->success));
	as_ink_end(out, look, AS_RED);
	as_buf_byte(out, '\n');
}

static void put_tool(struct as_buf *out, const struct as_look *look, const struct as_name_stats *s)
{
	as_buf_str(out, "  ");
	as_ink(out, look, AS_CYAN);
	(void)as_put_clean(out, s->name, strnlen(s->name, sizeof s->name), WHOLE);
	as_ink_end(out, look, AS_CYAN);
	as_buf_fmt(out, ":\n    Jobs: %llu\n", (unsigned long long)s->count);
	put_ends(out, look, "    ", s);
	put_value(out, "    Total Duration: ", as_seconds(s->duration_sum_ns), "s");
}

static void put_overall(struct as_buf *out, const struct as_look *look,
			const struct as_name_stats *all)
{
	double took = as_seconds(all->duration_sum_ns);

	put_head(out, look, "Overall:");
	as_buf_fmt(out, "  Total Jobs: %llu\n", (unsigned long long)all->count);
	put_ends(out, look, "  ", all);
	put_value(out, "  Success Rate: ", rate(all), "%");
	as_buf_byte(out, '\n');
	put_head(out, look, "Resource Usage:");
	put_value(out,
		  "  Total CPU Time: ", all->cpu_known ? as_seconds(all->cpu_sum_ns) : (double)NAN,
		  "s");
	put_value(out, "  Total Duration: ", took, "s");
	put_value(out, "  Average Duration: ", took / (double)all->count, "s");
	as_buf_byte(out, '\n');
}

void as_report_job_stats(struct as_buf *out, const struct as_look *look,
			 const struct as_name_stats *s, size_t n)
{
	struct as_name_stats all = sum_of(s, n);
	size_t from = out->len;

	if (!all.count) {
		put_nothing(out, look, "No jobs recorded yet");
		return;
	}
	put_title(out, look, "Job Statistics Summary:");
	put_overall(out, look, &all);
	put_head(out, look, "By Tool:");
	for (size_t i = 0; i < n; i++)
		put_tool(out, look, &s[i]);
	as_page_end(out, look, from);
}
