/*
 * keystone_screens -- what scripts of Keystone's users read: its records and
 * its three screens, to the byte.
 */
#include <jansson.h>

#include "base/clock.h"
#include "report/report.h"
#include "store/keystone.h"
#include "synth.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static const struct as_look plain = {80, false, true}, coloured = {80, true, true};

/* Ten seconds: CPU 50 %, memory 10 to 30 MiB. */
static struct as_run *job(const char *error)
{
	static char *argv[] = {TEXT("python3"), TEXT("train.py"), TEXT("--data"), TEXT("d.csv")};
	static struct as_pair params[] = {{TEXT("n"), TEXT("3")}, {TEXT("solver"), TEXT("cg")}};
	struct as_identity who = {.id = "abcdefghij23",
				  .name = TEXT("train"),
				  .kind = TEXT("run"),
				  .argv = argv,
				  .argc = AS_LEN(argv),
				  .params = params,
				  .nparams = AS_LEN(params),
				  .start_ns = 1763234164 * AS_SECOND + 123456789,
				  .interval_ns = 5 * AS_SECOND};
	struct synth s = synth_new(&who);

	for (int i = 0; i <= 2; i++) {
		synth_tick(&s, i * 5 * AS_SECOND);
		synth_set(&s, AS_F_JOB_USER, 0, i * 5 * AS_SECOND / 2);
		synth_set(&s, AS_F_JOB_SYSTEM, 0, 0);
		synth_set(&s, AS_F_JOB_RSS, 0, (INT64_C(10) + i * 10) << 20);
		synth_set(&s, AS_F_JOB_VMS, 0, INT64_C(512) << 20);
		synth_send(&s);
	}
	synth_total(&s, AS_T_CPU, 5125 * AS_MSEC, "");
	synth_total(&s, AS_T_CPU_USER, 5 * AS_SECOND, "");
	synth_total(&s, AS_T_CPU_SYSTEM, 125 * AS_MSEC, "");
	synth_total(&s, AS_T_MEM_PEAK, 31 << 20, "");
	synth_total(&s, AS_T_READ, 3 << 20, "");
	synth_total(&s, AS_T_WRITE, 0, "");
	synth_total(&s, AS_T_SYSCR, 12, "");
	synth_total(&s, AS_T_SELF_TICKS, 3, "");
	return synth_end(&s, (struct as_outcome){.status = AS_FAILED,
						 .exit_code = 3,
						 .duration_ns = 10 * AS_SECOND,
						 .error = TEXT(error)});
}

static struct as_run *imported(const char *line)
{
	struct as_run *run = NULL;
	struct as_err err = {0};

	EXPECT_OK(as_keystone_read(line, strlen(line), &run, &err), err);
	return run;
}

/* --- job-history -------------------------------------------------------------------- */

static void t_history(void)
{
	as_auto_run struct as_run *run = job("it broke\nin two lines");
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_job_history(&b, &plain, 1);
	as_report_job(&b, &plain, run, 1);
	EXPECT_STR(as_buf_text(&b), "\n"
				    "Job History (showing 1 jobs):\n"
				    "\n"
				    "1. Task: abcdefghij23\n"
				    "   Tool: train, Script: train.py\n"
				    "   Status: FAILED\n"
				    "   Started: 2025-11-15T19:16:04.123456\n"
				    "   Duration: 10.0s\n"
				    "   CPU Time: 5.12s (user: 5.0s, system: 0.12s)\n"
				    "   Memory Peak: 31.0 MB\n"
				    "   Error: it broke in two lines...\n"
				    "\n");
	as_buf_clear(&b);
	as_report_job_history(&b, &plain, 0);
	EXPECT_STR(as_buf_text(&b), "No job history found\n");
}

static void t_history_knows_nothing(void)
{
	as_auto_run struct as_run *run =
		imported("{\"task_id\":\"0123456789abcdef\",\"start_time\":\"2026-11-01T12:00:00\","
			 "\"duration_seconds\":0,\"status\":\"timeout\"}");
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_job(&b, &plain, run, 12);
	EXPECT_STR(as_buf_text(&b), "12. Task: 0123456789ab...\n"
				    "   Tool: unknown, Script: N/A\n"
				    "   Status: TIMEOUT\n"
				    "   Started: 2026-11-01T12:00:00.000000\n"
				    "   Duration: 0.0s\n"
				    "   CPU Time: N/A (user: N/A, system: N/A)\n"
				    "   Memory Peak: N/A\n"
				    "\n");
}

/* A hundred characters, not bytes; the points always; an id of 15 is whole. */
static void t_history_cuts(void)
{
	char error[2 * 150 + 1] = "", want[512];
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	for (size_t i = 0; i < 150; i++)
		memcpy(error + 2 * i, "é", 2);
	as_auto_run struct as_run *run = job(error);
	as_report_job(&b, &plain, run, 1);
	(void)snprintf(want, sizeof want, "   Error: %.200s...\n", error);
	EXPECT(strstr(b.p, want));
	as_auto_run struct as_run *fifteen =
		imported("{\"task_id\":\"012345678901234\",\"start_time\":\"2026-11-01T12:00:00\","
			 "\"duration_seconds\":0,\"status\":\"success\"}");
	as_buf_clear(&b);
	as_report_job(&b, &plain, fifteen, 1);
	EXPECT(strstr(b.p, "1. Task: 012345678901234\n"));
}

/* --- job-details -------------------------------------------------------------------- */

static void t_details(void)
{
	as_auto_run struct as_run *run = job("it broke\nin two lines");
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_job_details(&b, &plain, run);
	EXPECT_STR(as_buf_text(&b), "\n"
				    "Job Details: abcdefghij23\n"
				    "\n"
				    "Basic Information:\n"
				    "  Tool: train\n"
				    "  Script: train.py\n"
				    "  Status: FAILED\n"
				    "  Return Code: 3\n"
				    "\n"
				    "Timing:\n"
				    "  Started: 2025-11-15T19:16:04.123456\n"
				    "  Ended: 2025-11-15T19:16:14.123456\n"
				    "  Duration: 10.0s\n"
				    "\n"
				    "Parameters:\n"
				    "  {\n"
				    "  \"n\": 3,\n"
				    "  \"solver\": \"cg\"\n"
				    "}\n"
				    "\n"
				    "Resource Usage:\n"
				    "  CPU User Time: 5.0s\n"
				    "  CPU System Time: 0.12s\n"
				    "  CPU Total Time: 5.12s\n"
				    "  Memory Peak: 31.0 MB\n"
				    "\n"
				    "Error Details:\n"
				    "  it broke\n"
				    "in two lines\n"
				    "\n"
				    "Detailed Profile:\n"
				    "  Samples: 3\n"
				    "  Sampling Interval: 5.0s\n"
				    "  CPU: mean N/A, max N/A, min N/A\n"
				    "  Memory Used: mean N/A, max N/A, min N/A\n"
				    "  Process CPU: mean 50.0%, max 50.0%, min 50.0%\n"
				    "  Process Memory: mean 20.0 MB, max 30.0 MB, min 10.0 MB\n"
				    "  Process VMS: mean 512.0 MB, max 512.0 MB, min 512.0 MB\n"
				    "  I/O: read 3.0 MB, write 0.0 MB, total 3.0 MB\n"
				    "  I/O Operations: read 12, write N/A\n"
				    "  Time Series:\n"
				    "    5.0s: CPU 50.0%, Memory 20.0 MB, VMS 512.0 MB\n"
				    "    10.0s: CPU 50.0%, Memory 30.0 MB, VMS 512.0 MB\n"
				    "\n");
}

/* What the imported record said of itself is shown, also what it spelled in another way. */
static void t_details_of_an_import(void)
{
	as_auto_run struct as_run *run = imported(
		"{\"task_id\":\"3f2a8c1e-77aa\",\"tool\":\"t\",\"script\":\"s.py\","
		"\"params\":{\"steps\":[1,2.0,null],\"s\":\"x\"},"
		"\"start_time\":\"2026-11-01T12:00:00\",\"duration_seconds\":1.5,"
		"\"status\":\"timeout\",\"returncode\":-1,"
		"\"detailed_profile\":{\"samples_collected\":76,\"sampling_interval_seconds\":0.5,"
		"\"cpu\":{\"mean_percent\":61.42,\"max_percent\":98.7,\"min_percent\":\"?\"},"
		"\"io_stats\":{\"read_mb\":12.5,\"read_count\":410}}}");
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_job_details(&b, &plain, run);
	static const char *const parts[] = {
		"\nJob Details: 3f2a8c1e-77aa\n\n",
		"  Return Code: -1\n",
		"\nParameters:\n  {\n  \"steps\": [\n    1,\n    2.0,\n    null\n  ],\n"
		"  \"s\": \"x\"\n}\n\nResource",
		"  Samples: 76\n  Sampling Interval: 0.5s\n"
		"  CPU: mean 61.42%, max 98.7%, min N/A\n",
		"  I/O: read 12.5 MB, write N/A, total N/A\n"
		"  I/O Operations: read 410, write N/A\n",
	};
	for (size_t i = 0; i < AS_LEN(parts); i++)
		if (!strstr(b.p, parts[i]))
			UTEST_FAIL("'%s' is not in\n%s", parts[i], b.p);
}

/* --- job-stats ---------------------------------------------------------------------- */

static void t_stats(void)
{
	static const struct as_name_stats two[] = {
		{.name = "train",
		 .count = 3,
		 .success = 2,
		 .timeout = 1,
		 .duration_sum_ns = 330120 * AS_MSEC,
		 .cpu_sum_ns = 8 * AS_SECOND,
		 .cpu_known = 3},
		{.name = "eval", .count = 1, .interrupted = 1, .duration_sum_ns = 500 * AS_MSEC},
	};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_job_stats(&b, &plain, two, 2);
	EXPECT_STR(as_buf_text(&b), "\n"
				    "Job Statistics Summary:\n"
				    "\n"
				    "Overall:\n"
				    "  Total Jobs: 4\n"
				    "  Successful: 2 (50.0%)\n"
				    "  Failed: 2\n"
				    "  Success Rate: 50.0%\n"
				    "\n"
				    "Resource Usage:\n"
				    "  Total CPU Time: 8.0s\n"
				    "  Total Duration: 330.62s\n"
				    "  Average Duration: 82.66s\n"
				    "\n"
				    "By Tool:\n"
				    "  train:\n"
				    "    Jobs: 3\n"
				    "    Successful: 2 (66.67%)\n"
				    "    Failed: 1\n"
				    "    Total Duration: 330.12s\n"
				    "  eval:\n"
				    "    Jobs: 1\n"
				    "    Successful: 0 (0.0%)\n"
				    "    Failed: 1\n"
				    "    Total Duration: 0.5s\n");
	as_buf_clear(&b);
	as_report_job_stats(&b, &plain, NULL, 0);
	as_report_job_unknown(&b, &plain, "x\033[31my");
	EXPECT_STR(as_buf_text(&b), "No jobs recorded yet\nJob x?[31my not found in history\n");
}

/* --- colours ------------------------------------------------------------------------ */

static void without_colours(struct as_buf *b)
{
	size_t to = 0;

	for (size_t i = 0; i < b->len; i++)
		if (b->p[i] == '\033')
			i += strcspn(b->p + i, "m");
		else
			b->p[to++] = b->p[i];
	b->p[b->len = to] = '\0';
}

/* A terminal gets colours, and below them the same bytes. */
static void t_colours(void)
{
	as_auto_run struct as_run *run = job("it broke");
	as_auto_buf struct as_buf a = AS_BUF(AS_BUF_DOCUMENT), b = AS_BUF(AS_BUF_DOCUMENT);
	const struct as_name_stats s = {.name = "t", .count = 2, .success = 1};

	for (int i = 0; i < 2; i++) {
		const struct as_look *look = i ? &coloured : &plain;
		struct as_buf *out = i ? &b : &a;

		as_report_job_history(out, look, 0);
		as_report_job_history(out, look, 1);
		as_report_job(out, look, run, 1);
		as_report_job_details(out, look, run);
		as_report_job_unknown(out, look, "nobody");
		as_report_job_stats(out, look, &s, 1);
		as_report_job_stats(out, look, NULL, 0);
	}
	EXPECT(!strchr(a.p, '\033') && strchr(b.p, '\033'));
	without_colours(&b);
	EXPECT_STR(b.p, a.p);
}

/* --- records ------------------------------------------------------------------------ */

/* Lines as Keystone writes them; they come out as they went in, to the byte but for spaces. */
static const char *const records[] = {
	"{\"task_id\":\"3f2a8c1e-77aa-4c0e-9d53-0b1f6a2e9c11\",\"tool\":\"fenicsx\","
	"\"script\":\"poisson.py\",\"params\":{\"mesh_size\":64,\"tol\":1e-06,\"on\":true,"
	"\"none\":null,\"v\":[1,2.0,{\"a\":\"b\"}],\"solver\":\"cg\"},"
	"\"start_time\":\"2026-11-01T12:00:00.123456\",\"end_time\":\"2026-11-01T12:00:45.493456\","
	"\"duration_seconds\":45.37,\"status\":\"success\",\"returncode\":0,"
	"\"resource_usage\":{\"cpu_user_seconds\":40.12,\"cpu_system_seconds\":2.35,"
	"\"cpu_total_seconds\":42.47,\"memory_peak_mb\":512.27},\"error\":null,\"has_result\":true,"
	"\"detailed_profile\":{\"duration_seconds\":45.37,\"samples_collected\":76,"
	"\"sampling_interval_seconds\":0.5,\"cpu\":{\"mean_percent\":61.42,\"max_percent\":100.0},"
	"\"container_stats\":{\"cpu_percent\":\"12.5\"},\"gpu_stats\":{}}}",
	"{\"task_id\":\"t\",\"tool\":\"openfoam\",\"script\":\"a b.py\",\"params\":{},"
	"\"start_time\":\"2026-11-01T12:00:00.000001\",\"end_time\":\"2026-11-01T12:50:00.000001\","
	"\"duration_seconds\":3000.0,\"status\":\"timeout\",\"returncode\":-1,"
	"\"resource_usage\":{\"cpu_user_seconds\":0.0,\"cpu_system_seconds\":0.123456,"
	"\"cpu_total_seconds\":0.01,\"memory_peak_mb\":0.01},\"error\":\"a\\nb \\u0001\","
	"\"has_result\":false}",
	"{\"task_id\":\"u\",\"tool\":\"x\",\"script\":null,\"params\":{},"
	"\"start_time\":\"2026-11-01T12:00:00.000001\",\"end_time\":\"2026-11-01T12:00:01.000001\","
	"\"duration_seconds\":1.0,\"status\":\"failed\",\"returncode\":-9,"
	"\"resource_usage\":{\"cpu_user_seconds\":null,\"cpu_system_seconds\":null,"
	"\"cpu_total_seconds\":null,\"memory_peak_mb\":null},\"error\":\"\",\"has_result\":false,"
	"\"queue\":\"night\",\"retries\":2}",
};

static void t_records_come_out_as_they_went_in(void)
{
	for (size_t i = 0; i < AS_LEN(records); i++) {
		as_auto_run struct as_run *run = imported(records[i]);
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		as_report_keystone(&b, run);
		EXPECT(b.len && b.p[b.len - 1] == '\n');
		b.p[b.len - 1] = '\0';
		EXPECT_STR(as_buf_text(&b), records[i]);
	}
}

/* Every amount with two decimals that Keystone can have written. */
static void t_amounts(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	char line[256], want[64];

	for (int cents = 0; cents < 3000000; cents += 997) {
		(void)snprintf(line, sizeof line,
			       "{\"task_id\":\"t\",\"start_time\":\"2026-11-01T12:00:00\","
			       "\"duration_seconds\":%d.%02d,\"status\":\"success\","
			       "\"resource_usage\":{\"memory_peak_mb\":%d.%02d}}",
			       cents / 100, cents % 100, cents / 100, cents % 100);
		as_auto_run struct as_run *run = imported(line);
		as_buf_clear(&b);
		as_report_keystone(&b, run);
		json_t *doc = json_loads(b.p, 0, NULL);
		(void)snprintf(want, sizeof want, "%d.%02d", cents / 100, cents % 100);
		EXPECT_NEAR(json_real_value(json_object_get(doc, "duration_seconds")),
			    strtod(want, NULL), 0);
		EXPECT_NEAR(json_real_value(json_object_get(json_object_get(doc, "resource_usage"),
							    "memory_peak_mb")),
			    strtod(want, NULL), 0);
		json_decref(doc);
	}
}

/* A profile of another shape does no harm; labels of a run of ours replace none of its numbers. */
static void t_labels(void)
{
	as_auto_run struct as_run *odd =
		imported("{\"task_id\":\"t\",\"start_time\":\"2026-11-01T12:00:00\","
			 "\"duration_seconds\":1,\"status\":\"error\",\"has_result\":\"yes\","
			 "\"detailed_profile\":\"{oops\"}");
	as_auto_run struct as_run *ours = job(NULL);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_pair said[] = {{TEXT("task_id"), TEXT("celery-1")},
				 {TEXT("tool"), TEXT("fenicsx")},
				 {TEXT("script"), TEXT("p.py")},
				 {TEXT("has_result"), TEXT("true")},
				 {TEXT("detailed_profile"), TEXT("{}")}};

	as_report_keystone(&b, odd);
	EXPECT(strstr(b.p, ",\"returncode\":-1,"));
	EXPECT(strstr(b.p, ",\"has_result\":false,\"detailed_profile\":\"{oops\"}\n"));
	as_report_job_details(&b, &plain, odd);
	EXPECT(strstr(b.p, "  Samples: N/A\n"));
	as_buf_clear(&b);
	struct as_pair *none = ours->who.labels;
	ours->who.labels = said;
	ours->who.nlabels = AS_LEN(said);
	as_report_keystone(&b, ours);
	EXPECT(strstr(b.p, "{\"task_id\":\"celery-1\",\"tool\":\"fenicsx\",\"script\":\"p.py\","));
	EXPECT(strstr(b.p,
		      ",\"has_result\":false,\"detailed_profile\":{\"duration_seconds\":10.0,"));
	as_buf_clear(&b);
	as_report_job_details(&b, &plain, ours);
	EXPECT(strstr(b.p, "Job Details: celery-1\n") && strstr(b.p, "  Samples: 3\n"));
	ours->who.labels = none;
	ours->who.nlabels = 0;
}

/* No number of a record is too large to be printed, or to be left out. */
static void t_past_the_end_of_time(void)
{
	as_auto_run struct as_run *run =
		imported("{\"task_id\":\"t\",\"start_time\":\"2199-11-01T12:00:00\","
			 "\"duration_seconds\":8999999999,\"status\":\"success\"}");
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_keystone(&b, run);
	EXPECT(strstr(b.p, "\"end_time\":null,\"duration_seconds\":8999999999.0,"));
	as_report_json(&b, run);
	as_report_job_details(&b, &plain, run);
	EXPECT(strstr(b.p, "  Ended: N/A\n  Duration: 8999999999.0s\n"));
}

UTEST_MAIN(T(t_history), T(t_history_knows_nothing), T(t_history_cuts), T(t_details),
	   T(t_details_of_an_import), T(t_stats), T(t_colours),
	   T(t_records_come_out_as_they_went_in), T(t_amounts), T(t_labels),
	   T(t_past_the_end_of_time))
