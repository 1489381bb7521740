/*
 * Reports of invented runs: one small run whose every number is known, and
 * many wild ones that must never break a line, a terminal or a parser.
 */
#include "report/report.h"

#include <jansson.h>
#include <limits.h>
#include <time.h>

#include "base/clock.h"
#include "judge/verdict.h"
#include "report/glyph.h"
#include "report/metric.h"
#include "report/moments.h"
#include "report/rank.h"
#include "report/record.h"
#include "report/words.h"
#include "synth.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static const struct as_look wide = {80, false, true};

/* --- a run whose every number is known ------------------------------------------ */

/*
 * 10 s on 4 CPUs, a sample a second. python computes on one core for the first
 * 5 s, its child gzip on half a core from 5 s on. Memory grows by 10 MiB a
 * second from 10 MiB; 40 MiB are read in the third second; the machine has 4
 * cores of which 2 are busy.
 */
static void demo_tick(struct synth *s, int i)
{
	int64_t t = i * AS_SECOND, first = i < 5 ? t : 5 * AS_SECOND, rest = t - first;

	synth_tick(s, t);
	synth_set(s, AS_F_JOB_CPU, 0, first + rest / 2);
	synth_set(s, AS_F_JOB_USER, 0, first + rest / 4);
	synth_set(s, AS_F_JOB_SYSTEM, 0, rest / 4);
	synth_set(s, AS_F_JOB_MEMORY, 0, (10 + 10 * (int64_t)i) << 20);
	synth_set(s, AS_F_JOB_VMS, 0, INT64_C(1) << 30);
	synth_set(s, AS_F_JOB_READ, 0, i >= 3 ? 40 << 20 : 0);
	synth_set(s, AS_F_JOB_WRITE, 0, 0);
	synth_set(s, AS_F_JOB_PROCS, 0, i < 5 ? 1 : 2);
	synth_set(s, AS_F_SYS_USER, 0, 2 * t);
	synth_set(s, AS_F_SYS_SYSTEM, 0, 0);
	synth_set(s, AS_F_SYS_IDLE, 0, 2 * t);
	synth_set(s, AS_F_SYS_IOWAIT, 0, 0);
	synth_set(s, AS_F_SYS_MEM_USED, 0, INT64_C(4) << 30);
	synth_set(s, AS_F_SYS_LOAD1, 0, 1500000);
	synth_set(s, AS_F_PROC_USER, 1, first);
	synth_set(s, AS_F_PROC_SYSTEM, 1, 0);
	synth_set(s, AS_F_PROC_HWM, 1, (10 + 10 * (int64_t)i) << 20);
	if (i >= 5) {
		synth_set(s, AS_F_PROC_USER, 2, rest / 4);
		synth_set(s, AS_F_PROC_SYSTEM, 2, rest / 4);
		synth_set(s, AS_F_PROC_HWM, 2, 2 << 20);
	}
	synth_send(s);
}

static void demo_totals(struct synth *s)
{
	synth_total(s, AS_T_CPU_USER, 6250 * AS_MSEC, "wait4");
	synth_total(s, AS_T_CPU_SYSTEM, 1250 * AS_MSEC, "wait4");
	synth_total(s, AS_T_CPU, 7500 * AS_MSEC, "cgroup v2 cpu.stat");
	synth_total(s, AS_T_MEM_PEAK, 110 << 20, "sampled");
	synth_total(s, AS_T_MEM_UPPER, 120 << 20, "memory.peak");
	synth_total(s, AS_T_MEM_HWM, 110 << 20, "VmHWM");
	synth_total(s, AS_T_READ, 40 << 20, "/proc/PID/io");
	synth_total(s, AS_T_WRITE, 0, "/proc/PID/io");
	synth_total(s, AS_T_SYSCR, 40, "/proc/PID/io");
	synth_total(s, AS_T_PROCS, 2, "");
	synth_total(s, AS_T_RCHAR, AS_NA, "not readable (permission)");
	synth_total(s, AS_T_SELF_CPU, 12 * AS_MSEC, "");
	synth_total(s, AS_T_SELF_RSS, 3 << 20, "");
	synth_total(s, AS_T_SELF_TICKS, 11, "");
	synth_total(s, AS_T_SELF_LATE, 0, "");
}

static struct synth demo_begin(void)
{
	static char *argv[] = {TEXT("python3"), TEXT("train.py"), TEXT("--data"), TEXT("d.csv"),
			       TEXT("it's")};
	static struct as_pair params[] = {{TEXT("n"), TEXT("3")},     {TEXT("lr"), TEXT("1e-3")},
					  {TEXT("on"), TEXT("true")}, {TEXT("v"), TEXT("01")},
					  {TEXT("w"), TEXT("1.")},    {TEXT("n"), TEXT("-4.5")}};
	static struct as_pair labels[] = {{TEXT("team"), TEXT("infra")}};
	struct as_identity who = {.id = "abcdefghij23",
				  .name = TEXT("train"),
				  .kind = TEXT("run"),
				  .host = TEXT("box"),
				  .user = TEXT("ann"),
				  .cwd = TEXT("/work"),
				  .argv = argv,
				  .argc = AS_LEN(argv),
				  .params = params,
				  .nparams = AS_LEN(params),
				  .labels = labels,
				  .nlabels = AS_LEN(labels),
				  .start_ns = 1763234164 * AS_SECOND + 123456789,
				  .interval_ns = AS_SECOND,
				  .cpus = 4,
				  .memory = INT64_C(16) << 30};
	struct synth s = synth_new(&who);

	synth_instance(&s, (struct as_instance){.scope = AS_PROCESS,
						.id = 1,
						.parent = AS_NO_PARENT,
						.key = 100,
						.name = TEXT("python3"),
						.detail = TEXT("python3 train.py"),
						.born_ns = 0,
						.died_ns = 10 * AS_SECOND,
						.ended_by = 3 << 8});
	synth_instance(&s, (struct as_instance){.scope = AS_PROCESS,
						.id = 2,
						.parent = 1,
						.key = 101,
						.name = TEXT("gzip"),
						.detail = TEXT("gzip -c"),
						.born_ns = 5 * AS_SECOND,
						.died_ns = 10 * AS_SECOND,
						.ended_by = 9});
	synth_origin(&s, AS_F_JOB_USER, AS_MEASURED, "/proc/PID/stat");
	synth_origin(&s, AS_F_PSI_IO, AS_UNAVAILABLE, "kernel without CONFIG_PSI");
	return s;
}

static struct as_run *demo(void)
{
	struct synth s = demo_begin();

	for (int i = 0; i <= 10; i++)
		demo_tick(&s, i);
	demo_totals(&s);
	struct as_run *run = synth_end(&s, (struct as_outcome){.status = AS_FAILED,
							       .exit_code = 3,
							       .duration_ns = 10 * AS_SECOND,
							       .survivors = 2});
	as_judge(run);
	return run;
}

/* --- text ------------------------------------------------------------------------- */

static void t_summary_of_a_known_run(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_summary(&b, &wide, run);
	as_report_next(&b, &wide, run);
	EXPECT_STR(
		as_buf_text(&b),
		"✘ failed (exit 3)  train  10.0 s                                    abcdefghij23\n"
		"                                                         min      mean       max\n"
		"  CPU time       7.50 s  ████████████▆▅▅▅▅▅▅▅▅▅▅▅▅      50 %      75 %     100 %\n"
		"              user 6.25 s · system 1.25 s · 75 % of one core · 19 % of 4\n"
		"  memory peak   110 MiB  ▂▂▂▃▃▃▃▄▄▄▄▅▅▅▅▆▆▆▆▇▇▇▇██  10.0 MiB  60.0 MiB   110 MiB\n"
		"              upper bound 120 MiB · largest process 110 MiB (python3)\n"
		"  disk read    40.0 MiB  ▁▁▁▁▁██▅▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁     0 B/s 4.0 MiB/s  40 MiB/s\n"
		"              0 B written\n"
		"  processes           2  ▅▅▅▅▅▅▅▅▅▅▆▇█████████████         1       1.6         2\n"
		"  also        2 processes outlived the command\n"
		"\n"
		"  process  pid     CPU  peak RSS   alive     exit  command\n"
		"  python3  100  5.00 s   110 MiB  10.0 s        3  python3 train.py\n"
		"  gzip     101  2.50 s   2.0 MiB  5.00 s  SIGKILL  gzip -c\n"
		"\n"
		"  verdict     no single limit: 0.75 cores busy on average, of 4\n"
		"              cores used 0.75 · most cores at once 1.00 · sure 50 %\n"
		"              → see how it changed over time with 'assay show': its phases may\n"
		"                have different limits\n"
		"  assay       0.1 % of a core, 3.0 MiB · 11 samples\n"
		"              CPU from cgroup v2 cpu.stat · memory from sampled\n"
		"              I/O from /proc/PID/io\n"
		"  next        assay show abcdefghij23 · assay jobs --name train\n"
		"              assay stats --name train\n");
}

static bool has(const struct as_buf *b, const char *part)
{
	return strstr(as_buf_text(b), part) != NULL;
}

static void t_show_of_a_known_run(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const char *const parts[] = {
		"  command     python3 train.py --data d.csv 'it'\\''s'\n",
		"  on          box · as ann · 4 CPUs to use · 16.0 GiB memory\n",
		"  labels      team=infra\n",
		"  rchar               -  unavailable  not readable (permission)\n",
		"  cpu            7.50 s  measured     cgroup v2 cpu.stat\n",
		"  CPU, of one core                               ",
		"  █ user  ▒ system\n",
		"       100 % ┤█████████████████████████████████\n",
		"        50 % ┤",
		"\n              0 s          2.50 s           5.00 s ",
		"          7.50 s        10.0 s\n",
		"  ▕███████████████████████████▏\n",
		"\n  └─gzip   101  2.50 s   2.0 MiB  5.00 s  SIGKILL  ▕              ████",
		"SIGKILL  ▕              █████████████▏\n",
		"  cpu.user          63 %      25 %     100 %     25 %  /proc/PID/stat\n",
		"Not available\n  kernel without CONFIG_PSI\n    system.psi.io\n",
	};

	as_report_show(&b, &wide, run);
	for (size_t i = 0; i < AS_LEN(parts); i++)
		if (!has(&b, parts[i]))
			UTEST_FAIL("'%s' is not in\n%s", parts[i], b.p);
}

static void t_running_is_so_far(void)
{
	struct synth s = demo_begin();

	for (int i = 0; i <= 4; i++)
		demo_tick(&s, i);
	as_auto_run struct as_run *run = synth_take(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "▶ running  train  4.00 s so far"));
	EXPECT(has(&b, "Totals so far\n"));
	EXPECT(has(&b, "  cpu          4.00 s  measured  samples\n"));
	as_buf_clear(&b);
	as_report_status(&b, &wide, run);
	EXPECT_STR(as_buf_text(&b), "▶ train  4.00 s  CPU 100 %  memory 50.0 MiB");
	as_buf_clear(&b);
	as_report_json(&b, run);
	json_t *doc = json_loads(as_buf_text(&b), 0, NULL);
	EXPECT(doc && json_is_null(json_object_get(doc, "end_time")));
	EXPECT(json_is_null(json_object_get(doc, "returncode")));
	EXPECT_STR(json_string_value(json_object_get(doc, "status")), "running");
	json_decref(doc);
}

/* --- drawing ------------------------------------------------------------------------ */

static void t_curves(void)
{
	as_auto_run struct as_run *run = demo();
	double v[10];

	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_CPU), v, 10));
	for (int i = 0; i < 10; i++)
		EXPECT_NEAR(v[i], i < 5 ? 1 : 0.5, 1e-9);
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_MEMORY), v, 10));
	for (int i = 0; i < 10; i++) /* the largest of each second is at its end */
		EXPECT_NEAR(v[i], (20 + 10 * i) * 1048576.0, 1);
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_READ), v, 10));
	for (int i = 0; i < 10; i++)
		EXPECT_NEAR(v[i], i == 2 ? 40 << 20 : 0, 1);
	/* One column for all of it: means must be those of the whole run. */
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_CPU), v, 1));
	EXPECT_NEAR(v[0], 0.75, 1e-9);
	struct as_spread s = as_metric_spread(run, as_metric_of(run, AS_L_CPU));
	EXPECT_NEAR(s.mean, 0.75, 1e-9);
	EXPECT_NEAR(s.min, 0.5, 1e-9);
	EXPECT_NEAR(s.max, 1, 1e-9);
	s = as_system_busy(run);
	EXPECT(isnan(s.mean) || (s.mean == 0.5 && s.min == 0.5 && s.max == 0.5));
	EXPECT_NEAR(as_true_interval(run), 1, 1e-9);
	EXPECT(as_metric_of(run, AS_L_THREADS) == NULL);
}

/* Unknown samples leave a hole, and a hole is not a zero. */
static void t_holes(void)
{
	struct as_identity who = {.id = "holesholesho", .cpus = 1};
	struct synth s = synth_new(&who);
	double v[10];

	for (int i = 0; i <= 10; i++) {
		bool hole = i == 4 || i == 5;

		synth_tick(&s, i * AS_SECOND);
		synth_set(&s, AS_F_JOB_USER, 0, hole ? AS_NA : i * AS_SECOND);
		synth_set(&s, AS_F_JOB_SYSTEM, 0, 0);
		synth_set(&s, AS_F_JOB_MEMORY, 0, hole ? AS_NA : 100);
		synth_send(&s);
	}
	as_auto_run struct as_run *run =
		synth_end(&s,
			  (struct as_outcome){.status = AS_SUCCESS, .duration_ns = 10 * AS_SECOND});
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_CPU), v, 10));
	for (int i = 0; i < 10; i++)
		EXPECT(i >= 3 && i <= 5 ? isnan(v[i]) : fabs(v[i] - 1) < 1e-9);
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_MEMORY), v, 10));
	EXPECT(isnan(v[4]) && isnan(v[5]) && v[3] == 100 && v[6] == 100);
}

/* Reads 10 ms apart of a clock that ticks every 10 ms are joined to a tenth of a second. */
static void t_coarse_clocks_do_not_flicker(void)
{
	struct as_identity who = {.id = "coarsecoarse", .cpus = 1};
	struct synth s = synth_new(&who);
	double v[40];

	for (int i = 0; i <= 105; i++) {
		synth_tick(&s, i * 10 * AS_MSEC);
		synth_set(&s, AS_F_JOB_USER, 0, i / 4 * 20 * AS_MSEC); /* half a core, in steps */
		synth_set(&s, AS_F_JOB_SYSTEM, 0, 0);
		synth_send(&s);
	}
	as_auto_run struct as_run *run =
		synth_end(&s,
			  (struct as_outcome){.status = AS_SUCCESS, .duration_ns = 1050 * AS_MSEC});
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_CPU), v, 40));
	double area = 0;
	for (int i = 0; i < 40; i++) {
		EXPECT(v[i] >= 0.39 && v[i] <= 0.61);
		area += v[i] * 1.050 / 40;
	}
	EXPECT_NEAR(area, 0.520, 1e-9); /* all growth is drawn, also that of the short last piece */
}

/* --- JSON ---------------------------------------------------------------------------- */

static json_t *at(json_t *doc, const char *path)
{
	char key[64];

	while (doc && *path) {
		size_t n = strcspn(path, "/");

		(void)snprintf(key, sizeof key, "%.*s", (int)n, path);
		doc = json_object_get(doc, key);
		path += n + (path[n] == '/');
	}
	return doc;
}

#define EXPECT_AT(doc, path, want)                                                                 \
	do {                                                                                       \
		json_t *v_ = at(doc, path);                                                        \
		if (!json_is_number(v_))                                                           \
			UTEST_FAIL("no number at %s", path);                                       \
		EXPECT_NEAR(json_number_value(v_), want, 1e-9);                                    \
	} while (0)

static void check_record(json_t *doc)
{
	EXPECT_STR(json_string_value(at(doc, "task_id")), "abcdefghij23");
	EXPECT_STR(json_string_value(at(doc, "tool")), "train");
	EXPECT_STR(json_string_value(at(doc, "script")), "train.py");
	EXPECT_STR(json_string_value(at(doc, "start_time")), "2025-11-15T19:16:04.123456");
	EXPECT_STR(json_string_value(at(doc, "end_time")), "2025-11-15T19:16:14.123456");
	EXPECT_STR(json_string_value(at(doc, "status")), "failed");
	EXPECT_AT(doc, "returncode", 3);
	EXPECT_AT(doc, "duration_seconds", 10);
	EXPECT_AT(doc, "params/n", -4.5);
	EXPECT_AT(doc, "params/lr", 0.001);
	EXPECT(json_is_true(at(doc, "params/on")));
	EXPECT_STR(json_string_value(at(doc, "params/v")), "01");
	EXPECT_STR(json_string_value(at(doc, "params/w")), "1.");
	EXPECT_AT(doc, "resource_usage/cpu_user_seconds", 6.25);
	EXPECT_AT(doc, "resource_usage/cpu_system_seconds", 1.25);
	EXPECT_AT(doc, "resource_usage/cpu_total_seconds", 7.5);
	EXPECT_AT(doc, "resource_usage/memory_peak_mb", 110);
	EXPECT(json_is_null(at(doc, "error")) && json_is_false(at(doc, "has_result")));
	EXPECT_AT(doc, "detailed_profile/samples_collected", 11);
	EXPECT_AT(doc, "detailed_profile/sampling_interval_seconds", 1);
	EXPECT_AT(doc, "detailed_profile/memory/mean_used_mb", 4096);
	EXPECT_AT(doc, "detailed_profile/process_cpu/mean_percent", 75);
	EXPECT_AT(doc, "detailed_profile/process_cpu/max_percent", 100);
	EXPECT_AT(doc, "detailed_profile/process_cpu/min_percent", 50);
	EXPECT_AT(doc, "detailed_profile/process_memory/mean_mb", 60);
	EXPECT_AT(doc, "detailed_profile/process_memory/max_mb", 110);
	EXPECT_AT(doc, "detailed_profile/process_memory/vms_max_mb", 1024);
	EXPECT_AT(doc, "detailed_profile/io_stats/read_mb", 40);
	EXPECT_AT(doc, "detailed_profile/io_stats/read_count", 40);
	EXPECT(json_is_null(at(doc, "detailed_profile/io_stats/write_count")));
	EXPECT_AT(doc, "detailed_profile/io_stats/total_io_mb", 40);
	EXPECT(at(doc, "detailed_profile/container_stats") == NULL);
	EXPECT_U64(json_array_size(at(doc, "detailed_profile/time_series/process_cpu_percent")),
		   10);
}

static json_t *load(const struct as_buf *b)
{
	json_error_t why;
	json_t *doc = json_loads(as_buf_text(b), JSON_REJECT_DUPLICATES, &why);

	if (!doc)
		UTEST_FAIL("line %d: %s", why.line, why.text);
	EXPECT(b->len && b->p[b->len - 1] == '\n' && strchr(b->p, '\n') == b->p + b->len - 1);
	return doc;
}

static void t_json_of_a_known_run(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_json(&b, run);
	json_t *doc = load(&b);
	EXPECT_STR(json_string_value(at(doc, "schema")), "assay/run/1");
	check_record(doc);
	EXPECT_AT(doc, "assay/totals/cpu/value", 7500e6);
	EXPECT_STR(json_string_value(at(doc, "assay/totals/io_read_calls_bytes/source")),
		   "not readable (permission)");
	EXPECT(json_is_null(at(doc, "assay/totals/io_read_calls_bytes/value")));
	EXPECT_AT(doc, "assay/metrics/job.cpu.user/mean", 0.625);
	EXPECT_STR(json_string_value(at(doc, "assay/metrics/job.cpu.user/unit")), "ratio");
	EXPECT_STR(json_string_value(at(doc, "assay/metrics/job.io.read/unit")), "bytes/s");
	EXPECT_AT(doc, "assay/metrics/system.load.1m/mean", 1.5);
	EXPECT(json_is_null(at(doc, "assay/metrics/system.psi.io/mean")));
	EXPECT_STR(json_string_value(at(doc, "assay/metrics/system.psi.io/provenance")),
		   "unavailable");
	EXPECT(at(doc, "assay/metrics/cgroup.cpu.total") == NULL); /* nobody asked */
	EXPECT_U64(json_array_size(at(doc, "assay/timeline/t_ns")), 11);
	EXPECT_AT(json_array_get(at(doc, "assay/timeline/columns/job.memory.used"), 10), "",
		  110 << 20);
	EXPECT_AT(json_array_get(at(doc, "assay/timeline/columns/system.load.1m"), 0), "", 1.5);
	EXPECT_U64(json_array_size(at(doc, "assay/processes")), 2);
	json_t *gzip = json_array_get(at(doc, "assay/processes"), 1);
	EXPECT_AT(gzip, "pid", 101);
	EXPECT_AT(gzip, "parent", 1);
	EXPECT_AT(gzip, "wait_status", 9);
	EXPECT_AT(gzip, "metrics/process.cpu.user/total", 1250e6);
	EXPECT_STR(json_string_value(at(doc, "assay/verdict/kind")), "mixed");
	EXPECT_AT(doc, "assay/self/cpu_seconds", 0.012);
	json_decref(doc);
}

static void t_keystone_line(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const char *start =
		"{\"task_id\":\"abcdefghij23\",\"tool\":\"train\",\"script\":\"train.py\","
		"\"params\":{\"lr\":1e-3,\"on\":true,\"v\":\"01\",\"w\":\"1.\",\"n\":-4.5},"
		"\"start_time\":\"2025-11-15T19:16:04.123456\","
		"\"end_time\":\"2025-11-15T19:16:14.123456\",\"duration_seconds\":10.0,"
		"\"status\":\"failed\",\"returncode\":3,\"resource_usage\":{"
		"\"cpu_user_seconds\":6.25,\"cpu_system_seconds\":1.25,"
		"\"cpu_total_seconds\":7.5,\"memory_peak_mb\":110.0},\"error\":null,"
		"\"has_result\":false,"
		"\"detailed_profile\":{\"duration_seconds\":10.0,\"samples_collected\":11,"
		"\"sampling_interval_seconds\":1.0,\"cpu\":{";

	run->end.duration_ns += 1; /* rounds away */
	as_report_keystone(&b, run);
	if (strncmp(b.p, start, strlen(start)))
		UTEST_FAIL("the line is\n%s", b.p);
	json_t *doc = load(&b);
	check_record((run->end.duration_ns -= 1, doc));
	json_decref(doc);
}

static void t_endings(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const struct {
		struct as_outcome end;
		const char *text;
		int returncode;
	} rows[] = {
		{{.status = AS_SUCCESS}, "success", 0},
		{{.status = AS_FAILED, .exit_code = 42}, "failed (exit 42)", 42},
		{{.status = AS_FAILED, .exit_code = -1, .signal = 11}, "killed by SIGSEGV", -11},
		{{.status = AS_FAILED, .exit_code = -1, .signal = 40}, "killed by signal 40", -40},
		{{.status = AS_TIMEOUT, .exit_code = -1, .signal = 15}, "timeout", -15},
		{{.status = AS_ERROR, .exit_code = 127}, "error", 127},
		{{.status = AS_INTERRUPTED, .exit_code = -1}, "interrupted", 9999},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++) {
		run->end = rows[i].end;
		as_buf_clear(&b);
		as_put_outcome(&b, &run->end);
		EXPECT_STR(as_buf_text(&b), rows[i].text);
		as_buf_clear(&b);
		as_report_json(&b, run);
		json_t *doc = load(&b), *rc = at(doc, "returncode");
		json_t *exit_code = at(doc, "assay/outcome/exit_code");
		EXPECT(rows[i].end.exit_code < 0 ? json_is_null(exit_code)
						 : json_is_integer(exit_code));
		if (rows[i].returncode == 9999)
			EXPECT(json_is_null(rc));
		else
			EXPECT_I64(json_integer_value(rc), rows[i].returncode);
		json_decref(doc);
	}
}

static void t_tool_and_script(void)
{
	const struct {
		const char *argv[7];
		const char *want;
	} rows[] = {
		{{"python3", "train.py", "--data", "d.csv"}, "train.py"},
		{{"lmp", "-in", "in/case.lammps"}, "in/case.lammps"},
		{{"docker", "run", "-v", "/a:/b", "image", "poisson.py"}, "poisson.py"},
		{{"sh", "-c", "sleep 1; echo ./x"}, "sleep 1; echo ./x"},
		{{"sleep", "0.5"}, "0.5"},
		{{"./solver"}, "./solver"},
		{{"make", "-j4"}, "make"},
		{{"mpirun", "-n", "4", "./solver", "--dt=0.1", "case.in"}, "case.in"},
		{{"tar", "xf", "a.tar.gz"}, "a.tar.gz"},
		{{NULL}, NULL},
	};

	for (size_t i = 0; i < AS_LEN(rows); i++) {
		struct as_identity who = {.argv = (char **)(uintptr_t)rows[i].argv};

		while (rows[i].argv[who.argc])
			who.argc++;
		EXPECT_STR(as_script_of(&who), rows[i].want);
	}
	struct as_pair said[] = {{TEXT("script"), TEXT("s")}, {TEXT("tool"), TEXT("t")}};
	struct as_identity who = {.name = TEXT("n"), .labels = said, .nlabels = 2};
	EXPECT_STR(as_script_of(&who), "s");
	EXPECT_STR(as_tool_of(&who), "t");
	who.nlabels = 0;
	EXPECT_STR(as_tool_of(&who), "n");
}

/* --- CSV and the timeline -------------------------------------------------------------- */

static void t_csv(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const char *want =
		"t_seconds,system.cpu.user,system.cpu.system,system.cpu.iowait,system.cpu.idle,"
		"system.memory.used,system.load.1m,system.psi.io,job.cpu.total,job.cpu.user,"
		"job.cpu.system,job.processes,job.memory.used,job.memory.vms,"
		"job.io.read,job.io.write\r\n"
		"0.000000000,0,0,0,0,4294967296,1.500000,,0,0,0,1,10485760,1073741824,0,0\r\n"
		"1.000000000,2000000000,0,0,2000000000,4294967296,1.500000,,1000000000,1000000000,"
		"0,1,";

	as_report_csv(&b, run);
	if (strncmp(b.p, want, strlen(want)))
		UTEST_FAIL("the file begins\n%.600s", b.p);
	int lines = 0;
	for (const char *p = b.p; *p; p++)
		lines += *p == '\n';
	EXPECT_I64(lines, 12);
}

/* The same timeline, a document a line. */
static void t_ndjson(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	const char *want = "{\"t_seconds\":0,\"system.cpu.user\":0,\"system.cpu.system\":0,"
			   "\"system.cpu.iowait\":0,\"system.cpu.idle\":0,"
			   "\"system.memory.used\":4294967296,\"system.load.1m\":1.5,"
			   "\"system.psi.io\":null,\"job.cpu.total\":0,";

	as_report_ndjson(&b, run);
	if (strncmp(b.p, want, strlen(want)))
		UTEST_FAIL("the file begins\n%.600s", b.p);
	int lines = 0;
	for (const char *p = b.p, *end; (end = strchr(p, '\n')); p = end + 1, lines++) {
		json_t *line = json_loadb(p, (size_t)(end - p), 0, NULL);

		EXPECT(json_is_object(line) && json_object_size(line) == 16);
		json_decref(line);
	}
	EXPECT_I64(lines, 11);
}

static void t_lists_quote(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_listing l = {.id = "abcdefghij23",
			       .name = "a,\"b\"\nc",
			       .kind = "run",
			       .command = "plain",
			       .status = AS_FAILED,
			       .exit_code = -1,
			       .signal = 9,
			       .start_ns = 1500 * AS_MSEC,
			       .duration_ns = AS_SECOND,
			       .cpu_ns = AS_NA,
			       .cpu_user_ns = AS_NA,
			       .cpu_system_ns = AS_NA,
			       .peak_bytes = AS_NA};

	as_report_jobs_csv(&b, &l, 1);
	EXPECT_STR(strchr(as_buf_text(&b), '\n') + 1,
		   "abcdefghij23,\"a,\"\"b\"\"\nc\",,run,failed,,9,1.500000000,"
		   "1.000000000,,,,,,,plain,\r\n");
	as_buf_clear(&b);
	as_report_jobs_json(&b, &l, 1);
	json_t *doc = load(&b), *first = json_array_get(at(doc, "runs"), 0);
	EXPECT_STR(json_string_value(at(first, "name")), "a,\"b\"\nc");
	EXPECT(json_is_null(at(first, "cpu_seconds")) && json_is_null(at(first, "verdict")));
	EXPECT_STR(json_string_value(at(first, "start_time")), "1970-01-01T00:00:01.500000");
	json_decref(doc);
}

/* Longer than the timeline holds: points are joined, and every report still adds up. */
static void t_long_runs(void)
{
	enum { N = 5000 };
	struct as_identity who = {.id = "longlonglong", .cpus = 2};
	struct synth s = synth_new(&who);

	for (int i = 0; i < N; i++) {
		synth_tick(&s, i * AS_SECOND);
		synth_set(&s, AS_F_JOB_USER, 0, i * AS_SECOND);
		synth_set(&s, AS_F_JOB_SYSTEM, 0, 0);
		synth_set(&s, AS_F_JOB_MEMORY, 0, i == 3001 ? 1 << 30 : 1 << 20);
		synth_send(&s);
	}
	synth_total(&s, AS_T_SELF_TICKS, N, "");
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.status = AS_SUCCESS,
						  .duration_ns = (N - 1) * AS_SECOND});
	double v[60];
	EXPECT(run->series[AS_JOB]->joined > 0);
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_MEMORY), v, 60));
	EXPECT_NEAR(v[36], 1 << 30, 1); /* the one tall sample is still seen */
	EXPECT(as_metric_draw(run, as_metric_of(run, AS_L_CPU), v, 60));
	for (int i = 0; i < 60; i++)
		EXPECT_NEAR(v[i], 1, 1e-9);
	EXPECT_NEAR(as_true_interval(run), 1, 1e-9);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_json(&b, run);
	json_t *doc = load(&b);
	size_t n = json_array_size(at(doc, "assay/timeline/t_ns"));
	EXPECT(n > 500 && n <= AS_SERIES_CAP);
	EXPECT_U64(json_array_size(at(doc, "assay/timeline/columns/job.memory.used")), n);
	EXPECT_U64(json_array_size(at(doc, "assay/timeline/max/job.memory.used")), n);
	EXPECT(at(doc, "assay/timeline/max/job.cpu.user") == NULL);
	json_decref(doc);
}

/* Scopes may have their samples at different moments: each has its own column, holes are null. */
static void t_moments_of_two_scopes(void)
{
	struct as_identity who = {.id = "momentsmomen"};
	struct synth s = synth_new(&who);
	const int64_t want[][3] = {{0, 5, AS_NA}, {1, AS_NA, 7}, {2, 6, 8}, {3, AS_NA, 9}};

	for (size_t i = 0; i < AS_LEN(want); i++) {
		synth_tick(&s, want[i][0]);
		if (want[i][1] != AS_NA)
			synth_set(&s, AS_F_SYS_MEM_USED, 0, want[i][1]);
		if (want[i][2] != AS_NA)
			synth_set(&s, AS_F_CG_MEM, 0, want[i][2]);
		synth_send(&s);
	}
	as_auto_run struct as_run *run = synth_take(&s);
	struct as_moments m = {.run = run};
	for (size_t i = 0; i < AS_LEN(want); i++) {
		EXPECT(as_moments_next(&m));
		EXPECT_I64(m.t, want[i][0]);
		EXPECT_I64(as_moments_cell(&m, AS_F_SYS_MEM_USED, AS_MEAN), want[i][1]);
		EXPECT_I64(as_moments_cell(&m, AS_F_CG_MEM, AS_MOST), want[i][2]);
		EXPECT_I64(as_moments_cell(&m, AS_F_JOB_MEMORY, AS_MEAN), AS_NA);
	}
	EXPECT(!as_moments_next(&m));
}

/* --- trees ------------------------------------------------------------------------------- */

static void t_rank_and_tree(void)
{
	/* id, parent, CPU seconds; 9's parent 5 is too small to be ranked, 7 and 8 form a ring */
	static const struct {
		uint32_t id, parent;
		int64_t cpu;
	} rows[] = {{1, AS_NO_PARENT, 5},
		    {5, 1, 0},
		    {9, 5, 7},
		    {2, 1, 6},
		    {7, 8, 2},
		    {8, 7, 3},
		    {3, 77, 1}};
	struct as_identity who = {.id = "treestreestr"};
	struct synth s = synth_new(&who);

	synth_tick(&s, AS_SECOND);
	for (size_t i = 0; i < AS_LEN(rows); i++) {
		synth_instance(&s, (struct as_instance){.scope = AS_PROCESS,
							.id = rows[i].id,
							.parent = rows[i].parent,
							.born_ns = (int64_t)i,
							.died_ns = AS_NA,
							.ended_by = AS_NA});
		synth_set(&s, AS_F_PROC_USER, rows[i].id, rows[i].cpu);
		synth_set(&s, AS_F_PROC_SYSTEM, rows[i].id, 0);
	}
	synth_send(&s);
	/* Its CPU time was never learnt: it comes last, whoever comes after it. */
	synth_instance(&s, (struct as_instance){.scope = AS_PROCESS, .id = 20, .died_ns = AS_NA});
	synth_instance(&s, (struct as_instance){.scope = AS_PROCESS, .id = 21, .died_ns = AS_NA});
	synth_tick(&s, 2 * AS_SECOND);
	synth_set(&s, AS_F_PROC_USER, 21, 0);
	synth_set(&s, AS_F_PROC_SYSTEM, 21, 0);
	synth_send(&s);
	as_auto_run struct as_run *run = synth_take(&s);
	struct as_rank r = as_rank(run, AS_PROCESS, AS_RANK_MAX);
	EXPECT_U64(r.n, 9);
	EXPECT_U64(r.at[7]->id, 21);
	EXPECT_U64(r.at[8]->id, 20);
	r = as_rank(run, AS_PROCESS, 6);
	EXPECT_U64(r.n, 6);
	EXPECT_U64(r.total, 9);
	const uint32_t order[] = {9, 2, 1, 8, 7, 3};
	for (size_t i = 0; i < r.n; i++)
		EXPECT_U64(r.at[i]->id, order[i]);
	struct as_tree t = as_rank_tree(&r);
	const struct {
		uint32_t id;
		int depth;
		bool last;
	} tree[] = {{1, 0, false}, {9, 1, false}, {2, 1, true},
		    {3, 0, true},  {8, 0, true},  {7, 1, true}};
	EXPECT_U64(t.n, 6);
	for (size_t i = 0; i < t.n; i++) {
		EXPECT_U64(t.at[i].i->id, tree[i].id);
		EXPECT_I64(t.at[i].depth, tree[i].depth);
		EXPECT_I64(t.at[i].last, tree[i].last);
	}
}

/* --- wild runs ------------------------------------------------------------------------------ */

struct dice {
	uint64_t x;
};

static uint64_t roll(struct dice *d, uint64_t sides)
{
	d->x = d->x * 6364136223846793005u + 1442695040888963407u;
	return (d->x >> 33) % sides;
}

/* Bytes that hurt: escapes, half characters, wide ones, newlines, quotes, very long. */
static char *wild_text(struct dice *d, char *text, size_t size)
{
	static const char *const parts[] = {"\033[31m",
					    "\033]0;title\007",
					    "\r\n",
					    "\t",
					    "\"",
					    "'",
					    "\\",
					    "日本語",
					    "é",
					    "\xff",
					    "\xe2\x82",
					    "\xe2\x80\xae",
					    "x",
					    " ",
					    "a b",
					    "%s%n",
					    "\xf0\x9f\x98\x80",
					    "\x7f",
					    "\xc2\x9b",
					    "=",
					    "/"};
	size_t len = 0, want = roll(d, 8) ? roll(d, 30) : size - 1;

	while (len < want) {
		const char *p = parts[roll(d, AS_LEN(parts))];

		if (len + strlen(p) >= size)
			break;
		memcpy(text + len, p, strlen(p));
		len += strlen(p);
	}
	text[len] = '\0';
	return text;
}

static int64_t wild_value(struct dice *d)
{
	static const int64_t odd[] = {AS_NA, 0, 1, 999, 1000, INT64_C(1) << 53, INT64_C(1) << 60};

	return roll(d, 2) ? odd[roll(d, AS_LEN(odd))] : (int64_t)roll(d, 1u << 31);
}

static void wild_instances(struct dice *d, struct synth *s, size_t n)
{
	char name[64], detail[2000];

	for (size_t i = 0; i < n; i++) {
		enum as_scope scope = (enum as_scope)roll(d, AS_NSCOPES);

		synth_instance(
			s,
			(struct as_instance){
				.scope = as_scope_info(scope)->single ? AS_PROCESS : scope,
				.id = (uint32_t)roll(d, n),
				.parent = roll(d, 3) ? (uint32_t)roll(d, n) : AS_NO_PARENT,
				.key = (int64_t)roll(d, 1 << 22), /* the kernel's limit */
				.name = roll(d, 9) ? wild_text(d, name, sizeof name) : NULL,
				.detail = roll(d, 9) ? wild_text(d, detail, sizeof detail) : NULL,
				.born_ns = roll(d, 9) ? (int64_t)roll(d, 5) * AS_SECOND - AS_SECOND
						      : AS_NA,
				.died_ns = roll(d, 2) ? (int64_t)roll(d, 9) * AS_SECOND : AS_NA,
				.ended_by = roll(d, 2) ? (int64_t)roll(d, 70000) : AS_NA});
	}
}

static void wild_frames(struct dice *d, struct synth *s, size_t frames, size_t instances)
{
	int64_t t = 0;

	for (size_t i = 0; i < frames; i++, t += (int64_t)roll(d, 1000) * AS_MSEC) {
		synth_tick(s, t);
		for (size_t f = 0; f < AS_NFIELDS; f++) {
			enum as_scope scope = as_fields[f].scope;
			bool one = as_scope_info(scope)->single;

			if (roll(d, 4))
				synth_set(s, (enum as_field_id)f,
					  one ? 0 : (uint32_t)roll(d, instances + 1),
					  wild_value(d));
		}
		synth_send(s);
	}
}

static struct as_run *wild_run(struct dice *d, size_t frames, size_t instances)
{
	char texts[12][400];
	char *argv[3];
	struct as_pair pairs[3];
	struct as_identity who = {.id = "wildwildwild",
				  .cpus = (int32_t)roll(d, 3),
				  .memory = wild_value(d)};
	char **const at[] = {&who.name, &who.version, &who.kind, &who.host,
			     &who.user, &who.cwd,     &who.git};

	for (size_t i = 0; i < AS_LEN(at); i++)
		*at[i] = roll(d, 4) ? wild_text(d, texts[i], sizeof texts[i]) : NULL;
	for (size_t i = 0; i < 3; i++) {
		argv[i] = wild_text(d, texts[7 + i], sizeof texts[0]);
		pairs[i] = (struct as_pair){argv[i], argv[0]};
	}
	who.argv = argv;
	who.argc = roll(d, 4);
	who.labels = who.params = pairs;
	who.nlabels = roll(d, 4);
	who.nparams = roll(d, 4);
	struct synth s = synth_new(&who);
	wild_instances(d, &s, instances);
	for (size_t f = 0; f < AS_NFIELDS; f++)
		if (roll(d, 2))
			synth_origin(&s, (enum as_field_id)f, (enum as_provenance)roll(d, 4),
				     wild_text(d, texts[10], 48));
	wild_frames(d, &s, frames, instances);
	for (size_t i = 0; i < AS_NTOTALS; i++)
		synth_total(&s, (enum as_total_id)i, wild_value(d), wild_text(d, texts[10], 48));
	if (!roll(d, 5))
		return synth_take(&s);
	return synth_end(&s, (struct as_outcome){.status = (enum as_status)roll(d, AS_NSTATUSES),
						 .exit_code = (int32_t)roll(d, 300) - 1,
						 .signal = roll(d, 3) ? 0 : (int32_t)roll(d, 64),
						 .duration_ns = (int64_t)roll(d, 100000) * AS_MSEC,
						 .survivors = (int32_t)roll(d, 3),
						 .error = roll(d, 2) ? wild_text(d, texts[11], 400)
								     : NULL});
}

/* Every line fits, and nothing in it is for the terminal to obey, but our own colours. */
static void check_page(const struct as_buf *b, const struct as_look *look, const char *what)
{
	EXPECT(!b->bad);
	for (size_t i = 0; i < b->len;) {
		const char *end = memchr(b->p + i, '\n', b->len - i);
		size_t n = end ? (size_t)(end - b->p) - i : b->len - i;
		int w = as_text_width(b->p + i, n);

		if (w > look->width)
			UTEST_FAIL("%s: %d columns: %.*s", what, w, (int)n, b->p + i);
		for (size_t k = i; k < i + n; k++) {
			unsigned char c = (unsigned char)b->p[k];

			if (c == 033 && look->colour && b->p[k + 1] == '[')
				continue;
			if (c < 0x20 || c == 0x7f || (c >= 0x80 && !look->utf8))
				UTEST_FAIL("%s: byte %02x in: %.*s", what, c, (int)n, b->p + i);
		}
		i += n + 1;
	}
}

static void check_run(const struct as_run *run, const struct as_look *look, struct as_buf *b)
{
	void (*const pages[])(struct as_buf *, const struct as_look *,
			      const struct as_run *) = {as_report_summary, as_report_show,
							as_report_status, as_report_job_details,
							as_report_tree};
	void (*const documents[])(struct as_buf *, const struct as_run *) = {as_report_json,
									     as_report_keystone,
									     as_report_tree_json};

	for (size_t i = 0; i < AS_LEN(pages); i++) {
		as_buf_clear(b);
		pages[i](b, look, run);
		char what[] = {(char)('0' + i), '\0'};
		struct as_look room = *look; /* Keystone's page is never cut */
		room.width = i == 3 ? INT_MAX : look->width;
		check_page(b, &room, what);
	}
	for (size_t i = 0; i < AS_LEN(documents); i++) {
		as_buf_clear(b);
		documents[i](b, run);
		json_decref(load(b));
	}
	as_buf_clear(b);
	as_report_csv(b, run);
	EXPECT(!b->bad && b->len);
}

/* What a linker is given fills no screen; how much is left out is said. */
static void t_long_commands_are_cut(void)
{
	enum { WORDS = 3000 };
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	char name[WORDS][16], *argv[WORDS], **own = run->who.argv, lines[4096];
	size_t argc = run->who.argc;

	for (size_t i = 0; i < WORDS; i++) {
		(void)snprintf(name[i], sizeof name[i], "object%06zu.o", i);
		argv[i] = name[i];
	}
	run->who.argv = argv;
	run->who.argc = WORDS;
	as_report_show(&b, &wide, run);
	check_page(&b, &wide, "show");
	EXPECT(has(&b, "  command     object000000.o object000001.o "));
	EXPECT(has(&b, " object000023.o … and\n"
		       "              2 976 more words, whole in --json\n"));
	EXPECT(!has(&b, "object000024.o"));

	/* One word that is a whole program; and as much as there is room for. */
	memset(lines, 'x', sizeof lines);
	for (size_t i = 20; i < sizeof lines; i += 20)
		lines[i] = ' ';
	lines[sizeof lines - 1] = '\0';
	argv[1] = lines;
	run->who.argc = 2;
	as_buf_clear(&b);
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, " xxxxxxxxxxxxxxxxxxx …\n              whole in --json\n"));
	argv[1] = name[1];
	run->who.argc = 24;
	as_buf_clear(&b);
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, " object000023.o\n"));
	run->who.argv = own;
	run->who.argc = argc;
}

static void t_wild_runs(void)
{
	struct dice d = {42};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	for (int round = 0; round < 250; round++) {
		struct as_look look = {roll(&d, 2) ? 80 : 80 + (int)roll(&d, 121), roll(&d, 2),
				       roll(&d, 4) > 0};
		size_t frames = round % 5 == 0 ? 0 : round % 5 == 1 ? 1 : roll(&d, 40);
		as_auto_run struct as_run *run = wild_run(&d, frames, roll(&d, 20));

		if (round % 3)
			as_judge(run);
		check_run(run, &look, &b);
	}
}

static void t_nothing_known(void)
{
	struct as_identity who = {.memory = AS_NA};
	struct synth s = synth_new(&who);
	as_auto_run struct as_run *run = synth_take(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	check_run(run, &wide, &b);
	as_judge(run);
	EXPECT_STR(run->verdict.kind, "unknown");
	check_run(run, &wide, &b);
	check_run(run, &(struct as_look){80, true, false}, &b);
	as_buf_clear(&b);
	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "  CPU time            -\n"));
	EXPECT(has(&b, "  disk I/O            -\n"));
	as_buf_clear(&b);
	as_report_keystone(&b, run);
	json_t *doc = load(&b);
	EXPECT(json_is_null(at(doc, "resource_usage/cpu_total_seconds")));
	EXPECT(at(doc, "detailed_profile/cpu") == NULL); /* as Keystone does without samples */
	json_decref(doc);
}

/* What a reader would else have to find out: how near the limit it was, that the machine slept. */
static void t_also(void)
{
	struct as_identity who = {.id = "alsoalsoalso", .name = TEXT("x"), .memory = 100 << 20};
	struct synth s = synth_new(&who);

	synth_total(&s, AS_T_MEM_PEAK, 95 << 20, "test");
	synth_total(&s, AS_T_SLEPT, 90 * AS_SECOND, "test");
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = AS_SECOND});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "the peak is 95 % of the 100 MiB it may use"));
	EXPECT(has(&b, "the machine slept 1m 30s meanwhile"));
	run->who.memory = 200 << 20;
	run->totals[AS_T_SLEPT].value = 0;
	as_buf_clear(&b);
	as_report_summary(&b, &wide, run);
	EXPECT(!has(&b, "  also "));
}

/* A share of a run of milliseconds says nothing, and neither do calls without samples. */
static void t_own_cost_of_a_short_run(void)
{
	struct as_identity who = {.id = "shortshortsh", .name = TEXT("x")};
	struct synth s = synth_new(&who);

	synth_total(&s, AS_T_SELF_CPU, 3 * AS_MSEC, "getrusage");
	synth_total(&s, AS_T_SELF_RSS, 3 << 20, "VmHWM");
	synth_total(&s, AS_T_SELF_CALLS, 50, "counted");
	synth_total(&s, AS_T_MEM_PEAK, 20 << 10, "test");
	synth_total(&s, AS_T_MEM_UPPER, 256 << 10, "test");
	synth_total(&s, AS_T_MEM_HWM, 972 << 10, "test");
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = 4 * AS_MSEC});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "  assay       3.00 ms CPU, 3.0 MiB · no samples\n"));
	EXPECT(has(&b, "upper bound 256 KiB · largest process 972 KiB with mapped files\n"));
}

/* What was seen nearly as large may be the second, after one that grew unseen. */
static void t_largest_has_a_name_when_known(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	run->totals[AS_T_MEM_HWM].value = 118 << 20;
	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "upper bound 120 MiB · largest process 118 MiB\n"));
}

/* Ticks tell user from system time only where there are some. */
static void t_parts_of_a_short_run(void)
{
	static const struct {
		int64_t user, system;
		bool told;
	} cases[] = {{6, 0, false}, {0, 99, false}, {99, 1, true}, {100, 0, true}, {0, 0, true}};
	as_auto_run struct as_run *run = demo();

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		run->totals[AS_T_CPU_USER].value = cases[i].user * AS_MSEC;
		run->totals[AS_T_CPU_SYSTEM].value = cases[i].system * AS_MSEC;
		as_report_summary(&b, &wide, run);
		EXPECT(has(&b, " · system ") == cases[i].told);
		EXPECT(has(&b, "too short to tell user from system time · ") != cases[i].told);
	}
}

/* Many ticks, but none for most of those who used the time. */
static void t_parts_of_short_processes(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_total *user = &run->totals[AS_T_CPU_USER];

	(void)snprintf(user->source, sizeof user->source, "%s", AS_FEW_TICKS);
	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "too short to tell user from system time · "));
	EXPECT(!has(&b, " · system "));
}

/* What is split by a guess is drawn as the one that it is. */
static void t_parts_are_drawn_when_known(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	struct as_total *user = &run->totals[AS_T_CPU_USER];

	user->how = AS_ATTRIBUTED;
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "  CPU, of one core\n"));
	EXPECT(!has(&b, "▒"));
	user->how = AS_MEASURED;
	(void)snprintf(user->source, sizeof user->source, "%s", AS_FEW_TICKS);
	as_buf_clear(&b);
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "  CPU, of one core\n"));
	EXPECT(!has(&b, "▒"));
}

/* What they miss is said beside them, and nothing where there are none. */
static void t_network_from(void)
{
	static const char *const words = "network from BPF; what was over by 21 ms is missed";
	as_auto_run struct as_run *run = demo();

	run->totals[AS_T_NET_SENT] = (struct as_total){.value = 79, .how = AS_ATTRIBUTED};
	(void)snprintf(run->totals[AS_T_NET_SENT].source, sizeof run->totals->source, "%s",
		       words + strlen("network from "));
	run->totals[AS_T_NET_RECV] = (struct as_total){.value = 457};
	for (int64_t n = 0; n < 2; n++) {
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

		run->totals[AS_T_NET_CONNS] = (struct as_total){.value = n};
		as_report_summary(&b, &wide, run);
		EXPECT(has(&b, words) == (n > 0));
	}
}

static void named(struct synth *s, enum as_scope scope, uint32_t id, const char *name)
{
	synth_instance(s, (struct as_instance){.scope = scope,
					       .id = id,
					       .parent = AS_NO_PARENT,
					       .name = TEXT(name),
					       .born_ns = AS_NA,
					       .died_ns = AS_NA,
					       .ended_by = AS_NA});
}

/* A list shows what is known and more than nothing, the most used first, and counts the rest. */
static void t_lists_of_a_run(void)
{
	struct as_identity who = {.id = "listslistsli", .name = TEXT("x")};
	struct synth s = synth_new(&who);

	named(&s, AS_DEVICE, 0, "sda");
	named(&s, AS_DEVICE, 1, "nvme0n1");
	for (uint32_t i = 0; i < 23; i++)
		named(&s, AS_FILE, i, "data/in");
	synth_tick(&s, AS_SECOND);
	synth_set(&s, AS_F_DEV_READ, 0, 1 << 20);
	synth_set(&s, AS_F_DEV_WRITE, 0, 0);
	synth_set(&s, AS_F_DEV_READ, 1, 3 << 20);
	synth_set(&s, AS_F_DEV_WRITE, 1, 0);
	synth_set(&s, AS_F_DEV_BUSY, 1, 250 * AS_MSEC);
	for (uint32_t i = 0; i < 23; i++)
		synth_set(&s, AS_F_FILE_READ, i, 4096);
	synth_send(&s);
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = AS_SECOND});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "\nBlock devices, for everybody on the machine\n"
		       "  device      read    busy\n"
		       "  nvme0n1  3.0 MiB  250 ms\n"
		       "  sda      1.0 MiB       -\n"));
	EXPECT(has(&b, "  data/in  4.0 KiB\n  … and 3 more (--json lists them)\n"));
}

/* What was always 0 is told in one line; who was seen only when dead has no known peak. */
static void t_zeros_and_the_dead(void)
{
	struct as_identity who = {.id = "zeroszerosze", .name = TEXT("x")};
	struct synth s = synth_new(&who);

	named(&s, AS_PROCESS, 0, "gone");
	for (int i = 1; i < 4; i++) {
		synth_tick(&s, i * AS_SECOND);
		synth_set(&s, AS_F_PROC_RSS, 0, 0); /* a zombie's */
		synth_set(&s, AS_F_PROC_SYSTEM, 0, 0);
		synth_set(&s, AS_F_PROC_USER, 0, AS_SECOND);
		synth_set(&s, AS_F_JOB_SWAP, 0, 0);
		synth_set(&s, AS_F_JOB_FDS, 0, i);
		synth_send(&s);
	}
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = 3 * AS_SECOND});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "  files.open     2    1    3     3\n  always 0: memory.swap\n"));
	EXPECT(has(&b, "  gone       0  1.00 s         -      -     -\n"));
}

/* Processes past the limit of a run are in no list, so nobody says that --json lists them. */
static void t_unlisted_processes(void)
{
	struct as_identity who = {.id = "unlistedunli", .name = TEXT("x")};
	struct synth s = synth_new(&who);

	named(&s, AS_PROCESS, 0, "sh");
	synth_tick(&s, AS_SECOND);
	synth_set(&s, AS_F_PROC_USER, 0, AS_SECOND);
	synth_send(&s);
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = AS_SECOND});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	run->unlisted = 7;
	as_report_show(&b, &wide, run);
	EXPECT(has(&b, "  … and 7 more that are in no list\n"));
	EXPECT(!has(&b, "used less CPU time"));
}

static void t_reasons_are_said(void)
{
	struct as_identity who = {.id = "reasonsreaso", .name = TEXT("x")};
	struct synth s = synth_new(&who);

	synth_origin(&s, AS_F_JOB_READ, AS_UNAVAILABLE, "not readable (permission)");
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.status = AS_SUCCESS, .duration_ns = AS_SECOND});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "  disk I/O            -  not readable (permission)\n"));
}

/* An upper bound below the peak bounds nothing: file pages are in one and not in the other. */
static void t_bounds_bound(void)
{
	as_auto_run struct as_run *run = demo();
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	run->totals[AS_T_MEM_UPPER].value = 109 << 20;
	as_report_summary(&b, &wide, run);
	EXPECT(!has(&b, "upper bound") && has(&b, "largest process 110 MiB"));
}

/* A command that is over before the first sample has totals, and no shape. */
static void t_shortest_runs(void)
{
	struct synth s = demo_begin();

	demo_tick(&s, 0);
	demo_totals(&s);
	synth_total(&s, AS_T_SELF_TICKS, 0, "");
	synth_total(&s, AS_T_MEM_PEAK, AS_NA, "");
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.status = AS_SUCCESS, .duration_ns = AS_MSEC});
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_summary(&b, &wide, run);
	EXPECT(has(&b, "  CPU time       7.50 s\n"));
	EXPECT(has(&b, "  memory peak         -  it ended before it could be read\n"));
	EXPECT(!has(&b, "mean") && !has(&b, "▁") && !has(&b, "█"));
}

static void t_ten_thousand_processes(void)
{
	struct dice d = {7};
	as_auto_run struct as_run *run = wild_run(&d, 3, 10000);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	EXPECT(run->ninstances > 5000);
	as_judge(run);
	check_run(run, &wide, &b);
}

/* A deep chain of parents: the tree is cut, not the stack. */
static void t_deep_chains(void)
{
	enum { N = 10000 };
	struct as_identity who = {.id = "deepdeepdeep"};
	struct synth s = synth_new(&who);

	synth_tick(&s, 0);
	for (uint32_t i = 0; i < N; i++) {
		synth_instance(&s, (struct as_instance){.scope = AS_PROCESS,
							.id = i,
							.parent = i ? i - 1 : AS_NO_PARENT,
							.key = i,
							.name = TEXT("sh"),
							.born_ns = i,
							.died_ns = AS_NA,
							.ended_by = AS_NA});
		int64_t *row = as_frame_row(&s.frame, AS_PROCESS, i);
		as_row_set(row, AS_F_PROC_USER, i < N / 2 ? i : N - i);
		as_row_set(row, AS_F_PROC_SYSTEM, 0);
	}
	synth_send(&s);
	as_auto_run struct as_run *run = synth_take(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_show(&b, &wide, run);
	check_page(&b, &wide, "show");
	EXPECT(has(&b, "… and 9 936 more that used less CPU time"));
	as_buf_clear(&b);
	as_report_tree_json(&b, run);
	json_t *doc = load(&b);
	int levels = 0;
	for (json_t *p = doc;
	     (p = json_array_get(json_object_get(p, levels ? "children" : "processes"), 0));)
		levels++;
	json_decref(doc);
	EXPECT_I64(levels, 33); /* and the others beside the last */
}

static void child(struct synth *s, uint32_t id, uint32_t parent, int64_t born, int64_t ended_by)
{
	synth_instance(s, (struct as_instance){.scope = AS_PROCESS,
					       .id = id,
					       .parent = parent,
					       .key = 100 + id,
					       .name = parent == AS_NO_PARENT ? TEXT("make")
						       : parent               ? TEXT("cc1")
									      : TEXT("cc"),
					       .born_ns = born,
					       .died_ns = AS_SECOND,
					       .ended_by = ended_by});
	int64_t *row = as_frame_row(&s->frame, AS_PROCESS, id);
	as_row_set(row, AS_F_PROC_USER, 1000);
	as_row_set(row, AS_F_PROC_SYSTEM, 1000);
	as_row_set(row, AS_F_PROC_RSS, 4096);
}

/* A tick of the kernel's clock of births is 10 ms: a child may seem older than its parent. */
static void t_children_that_seem_older(void)
{
	struct as_identity who = {.id = "olderchild23"};
	struct synth s = synth_new(&who);

	synth_tick(&s, 0);
	child(&s, 0, AS_NO_PARENT, 0, 0);
	child(&s, 1, 0, 1000, AS_NA);
	child(&s, 2, 1, 990, AS_NA);
	child(&s, 4, 0, 2000, 0); /* and may have been met before it */
	child(&s, 3, 4, 2000, 0);
	synth_send(&s);
	as_auto_run struct as_run *run = synth_take(&s);
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
	as_report_tree(&b, &wide, run);
	EXPECT(has(&b, "  └─cc ×2, 2 at once"));
	EXPECT(has(&b, "    └─cc1 ×2, 2 at once"));
	as_buf_clear(&b);
	as_report_tree_json(&b, run);
	json_t *doc = load(&b), *row = json_array_get(json_object_get(doc, "processes"), 0);
	row = json_array_get(json_object_get(row, "children"), 0);
	EXPECT_I64(json_integer_value(json_object_get(row, "count")), 2);
	EXPECT_I64(json_integer_value(json_object_get(row, "failed")), 0);
	EXPECT_I64(json_integer_value(json_object_get(row, "end_unknown")), 1);
	json_decref(doc);
}

/* Nobody waited for one of them: that the others ended well says nothing about it. */
static void t_how_several_ended(void)
{
	struct as_identity who = {.id = "endedendings"};

	for (int64_t last = AS_NA;; last = 0) {
		struct synth s = synth_new(&who);

		synth_tick(&s, 0);
		child(&s, 0, AS_NO_PARENT, 0, 0);
		child(&s, 1, 0, 1000, 0);
		child(&s, 2, 0, 1000, last);
		synth_send(&s);
		as_auto_run struct as_run *run = synth_take(&s);
		as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);
		as_report_tree(&b, &wide, run);
		const char *row = strstr(b.p, "cc ×2");
		bool unknown = row && row[strcspn(row, "-\n")] == '-';
		EXPECT(row && unknown == (last == AS_NA));
		if (last == 0)
			return;
	}
}

/* Whatever the limit of the buffer, a report ends, and says that it is cut. */
static void t_full_buffers(void)
{
	as_auto_run struct as_run *run = demo();

	for (size_t max = 0; max < 3000; max += 37) {
		as_auto_buf struct as_buf b = AS_BUF(max);

		as_report_summary(&b, &wide, run);
		as_report_show(&b, &(struct as_look){80, true, false}, run);
		as_report_json(&b, run);
		as_report_keystone(&b, run);
		as_report_csv(&b, run);
		as_report_ndjson(&b, run);
		as_report_job_details(&b, &wide, run);
		as_report_status(&b, &wide, run);
		as_report_tree(&b, &wide, run);
		as_report_tree_json(&b, run);
		EXPECT(b.bad && b.len <= max);
	}
}

/* --- lists ------------------------------------------------------------------------------------ */

static struct as_listing wild_listing(struct dice *d)
{
	struct as_listing l = {.id = "abcdefghij23",
			       .status = (enum as_status)roll(d, AS_NSTATUSES),
			       .exit_code = (int32_t)roll(d, 4) - 1,
			       .signal = (int32_t)roll(d, 3),
			       .start_ns = (int64_t)roll(d, 1u << 31) * AS_SECOND,
			       .duration_ns = wild_value(d),
			       .cpu_ns = wild_value(d),
			       .cpu_user_ns = wild_value(d),
			       .cpu_system_ns = wild_value(d),
			       .peak_bytes = wild_value(d)};

	(void)wild_text(d, l.name, sizeof l.name);
	(void)wild_text(d, l.command, sizeof l.command);
	(void)wild_text(d, l.error, sizeof l.error);
	(void)wild_text(d, l.version, sizeof l.version);
	(void)wild_text(d, l.host, sizeof l.host);
	(void)snprintf(l.verdict, sizeof l.verdict, "%s", roll(d, 2) ? "cpu-one-thread" : "");
	return l;
}

/* Two servers of one machine, and a load that measured itself. */
static void t_jobs_of_loads(void)
{
	const struct as_listing l[] = {{.id = "aaaaaaaaaaaa",
					.name = "192.168.100.100:18311",
					.status = AS_SUCCESS,
					.duration_ns = 12345 * AS_MSEC,
					.cpu_ns = 12345 * AS_MSEC,
					.peak_bytes = 1000 << 20,
					.verdict = "invalid-starved"},
				       {.id = "bbbbbbbbbbbb",
					.name = "192.168.100.100:18312",
					.status = AS_SUCCESS,
					.duration_ns = AS_SECOND,
					.cpu_ns = AS_NA,
					.peak_bytes = AS_NA,
					.verdict = "valid"}};
	const struct as_look narrow = {.width = 80, .utf8 = true};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_jobs(&b, &narrow, l, 2, 1000 * AS_SECOND);
	EXPECT(strstr(as_buf_text(&b), "…:18311  ✘ INVALID"));
	EXPECT(strstr(as_buf_text(&b), "…:18312  ✔ success"));
	as_buf_clear(&b);
	as_report_jobs(&b, &(struct as_look){.width = 100, .utf8 = true}, l, 2, 1000 * AS_SECOND);
	EXPECT(strstr(as_buf_text(&b), "192.168.100.100:18311  "));
}

static void t_jobs_table(void)
{
	const struct as_listing l[] = {
		{.id = "aaaaaaaaaaaa",
		 .name = "train",
		 .status = AS_RUNNING,
		 .start_ns = 995 * AS_SECOND,
		 .duration_ns = 5 * AS_SECOND,
		 .cpu_ns = 3 * AS_SECOND,
		 .peak_bytes = 1 << 20},
		{.id = "bbbbbbbbbbbb",
		 .name = "sim",
		 .status = AS_INTERRUPTED,
		 .start_ns = 0,
		 .duration_ns = 72 * AS_SECOND,
		 .cpu_ns = AS_NA,
		 .peak_bytes = AS_NA,
		 .verdict = "cpu-one-thread"},
	};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_jobs(&b, &wide, l, 2, 1000 * AS_SECOND);
	EXPECT_STR(as_buf_text(&b),
		   "id            name   status         age    took     CPU     peak  verdict\n"
		   "aaaaaaaaaaaa  train  ▶ running       5s  5.00 s  3.00 s  1.0 MiB  -\n"
		   "bbbbbbbbbbbb  sim    ✘ interrupted  16m  1m 12s       -        -  "
		   "cpu-one-thread\n");
}

/* How a run ended and what limited it are never cut; names are, then numbers left out. */
static void t_jobs_keep_their_words(void)
{
	const struct as_listing l[] = {
		{.id = "aaaaaaaaaaaa",
		 .name = "train-the-whole-model.py",
		 .status = AS_INTERRUPTED,
		 .start_ns = 0,
		 .duration_ns = 754 * AS_SECOND,
		 .cpu_ns = 743 * AS_SECOND,
		 .peak_bytes = 12 << 20,
		 .verdict = "cpu-one-thread"},
		{.id = "bbbbbbbbbbbb",
		 .name = "sim",
		 .status = AS_SUCCESS,
		 .duration_ns = AS_SECOND,
		 .cpu_ns = AS_SECOND,
		 .peak_bytes = 1 << 20,
		 .verdict = "cpu-contended"},
	};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_jobs(&b, &wide, l, 2, 1000 * AS_SECOND);
	EXPECT_STR(as_buf_text(&b),
		   "id            name         status         age     took      peak  verdict\n"
		   "aaaaaaaaaaaa  train-the-…  ✘ interrupted  16m  12m 34s  12.0 MiB  "
		   "cpu-one-thread\n"
		   "bbbbbbbbbbbb  sim          ✔ success      16m   1.00 s   1.0 MiB  "
		   "cpu-contended\n");
	for (int width = 40; width < 120; width++) {
		as_buf_clear(&b);
		as_report_jobs(&b, &(struct as_look){width, false, true}, l, 2, 1000 * AS_SECOND);
		check_page(&b, &(struct as_look){width, false, true}, "jobs");
		EXPECT(strstr(as_buf_text(&b), "interrupted"));
	}
}

static void t_stats_table(void)
{
	const struct as_name_stats s[] = {
		{.name = "train",
		 .count = 12,
		 .success = 11,
		 .failed = 1,
		 .duration_sum_ns = 120 * AS_SECOND,
		 .cpu_sum_ns = 240 * AS_SECOND,
		 .cpu_known = 12,
		 .memory_known = 10,
		 .memory_sum_bytes = INT64_C(10) << 30,
		 .memory_max_bytes = INT64_C(2) << 30,
		 .trend = 0.031},
		{.name = "sim", .count = 1, .duration_sum_ns = AS_SECOND, .trend = NAN},
		{.name = "flat",
		 .count = 5,
		 .success = 5,
		 .duration_sum_ns = 5 * AS_SECOND,
		 .trend = -0.004},
		{.name = "down",
		 .count = 5,
		 .success = 5,
		 .duration_sum_ns = 5 * AS_SECOND,
		 .trend = -0.04},
	};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	as_report_stats(&b, &wide, s, AS_LEN(s));
	EXPECT_STR(as_buf_text(&b),
		   "name   runs  success  mean time  mean CPU  mean peak  max peak     trend\n"
		   "train    12     92 %     10.0 s    20.0 s    1.0 GiB   2.0 GiB  ↗ +3.1 %\n"
		   "sim       1        -     1.00 s         -          -         -         -\n"
		   "flat      5    100 %     1.00 s         -          -         -    → same\n"
		   "down      5    100 %     1.00 s         -          -         -  ↘ -4.0 %\n"
		   "\n"
		   "23 runs of 4 names · 95 % succeeded · 2m 11s in all · 4m 00s CPU\n"
		   "largest peak 2.0 GiB\n");
	as_buf_clear(&b);
	as_report_stats_json(&b, s, AS_LEN(s));
	json_t *doc = load(&b);
	EXPECT_AT(doc, "total/count", 23);
	EXPECT_AT(json_array_get(at(doc, "names"), 0), "duration_trend_ratio_per_run", 0.031);
	EXPECT(json_is_null(at(json_array_get(at(doc, "names"), 1), "cpu_mean_seconds")));
	json_decref(doc);
}

static void t_wild_lists(void)
{
	struct dice d = {3};
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_DOCUMENT);

	for (int round = 0; round < 200; round++) {
		struct as_listing l[5];
		struct as_name_stats s[5];
		struct as_look look = {80 + (int)roll(&d, 50), roll(&d, 2), roll(&d, 2)};

		for (size_t i = 0; i < 5; i++) {
			l[i] = wild_listing(&d);
			s[i] = (struct as_name_stats){
				.count = roll(&d, 1u << 30),
				.success = roll(&d, 1000),
				.failed = roll(&d, 3),
				.duration_sum_ns = (int64_t)roll(&d, 1u << 30) * AS_SECOND,
				.cpu_sum_ns = (int64_t)roll(&d, 1u << 30) * AS_SECOND,
				.cpu_known = roll(&d, 3),
				.memory_known = roll(&d, 3),
				.memory_max_bytes = (int64_t)roll(&d, 1u << 31) << 20,
				.trend = ((double)roll(&d, 2000) - 1000) / 10};
			(void)wild_text(&d, s[i].name, sizeof s[i].name);
		}
		as_buf_clear(&b);
		as_report_jobs(&b, &look, l, roll(&d, 6), INT64_C(1) << 61);
		check_page(&b, &look, "jobs");
		as_buf_clear(&b);
		as_report_stats(&b, &look, s, roll(&d, 6));
		check_page(&b, &look, "stats");
		as_buf_clear(&b);
		as_report_jobs_json(&b, l, 5);
		json_decref(load(&b));
		as_buf_clear(&b);
		as_report_stats_json(&b, s, 5);
		json_decref(load(&b));
		as_buf_clear(&b);
		as_report_job_stats(&b, &look, s, 5);
		look.width = INT_MAX; /* Keystone's page is never cut */
		check_page(&b, &look, "job-stats");
	}
}

UTEST_MAIN(T(t_summary_of_a_known_run), T(t_show_of_a_known_run), T(t_running_is_so_far),
	   T(t_curves), T(t_holes), T(t_coarse_clocks_do_not_flicker), T(t_json_of_a_known_run),
	   T(t_keystone_line), T(t_endings), T(t_tool_and_script), T(t_csv), T(t_ndjson),
	   T(t_lists_quote), T(t_long_runs), T(t_moments_of_two_scopes), T(t_rank_and_tree),
	   T(t_long_commands_are_cut), T(t_wild_runs), T(t_nothing_known), T(t_also),
	   T(t_own_cost_of_a_short_run), T(t_lists_of_a_run), T(t_zeros_and_the_dead),
	   T(t_unlisted_processes), T(t_reasons_are_said), T(t_bounds_bound), T(t_shortest_runs),
	   T(t_ten_thousand_processes), T(t_deep_chains), T(t_children_that_seem_older),
	   T(t_how_several_ended), T(t_full_buffers), T(t_jobs_of_loads), T(t_jobs_table),
	   T(t_jobs_keep_their_words), T(t_stats_table), T(t_wild_lists),
	   T(t_largest_has_a_name_when_known), T(t_parts_of_a_short_run),
	   T(t_parts_of_short_processes), T(t_parts_are_drawn_when_known), T(t_network_from))
