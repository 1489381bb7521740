/* system, cores -- the numbers of the machine, against fixtures whose answers are known. */
#include "rig.h"

#include "base/clock.h"
#include "os/machine.h"
#include "os/ready.h"

extern const struct as_collector as_collect_system, as_collect_cores, as_collect_psi;

#define TICK INT64_C(10000000) /* the fixtures have 100 a second */
#define KB   INT64_C(1024)

/* ── parsers ──────────────────────────────────────────────────────────── */

static void t_cpu_line(void)
{
	static const char line[] = "cpu  100003 211 30011 4000037 5003 101 503 61 7001 13\nnext";
	struct as_cpu_times t;

	EXPECT_U64(as_parse_cpu(line, sizeof line - 1, &t), strlen(line) - 4);
	EXPECT_I64(t.cpu, -1);
	EXPECT_I64(t.user, 100003 + 211); /* guests are in it, not beside it */
	EXPECT_I64(t.system, 30011 + 101 + 503);
	EXPECT_I64(t.idle, 4000037);
	EXPECT_I64(t.iowait, 5003);
	EXPECT_I64(t.steal, 61);
}

static void t_cpu_line_short(void)
{
	static const char line[] = "cpu12 1 2 3 4\n";
	struct as_cpu_times t;

	EXPECT_U64(as_parse_cpu(line, sizeof line - 1, &t), sizeof line - 1);
	EXPECT_I64(t.cpu, 12);
	EXPECT_I64(t.user, 3);
	EXPECT_I64(t.system, 3);
	EXPECT_I64(t.iowait, AS_TEXT_NA);
	EXPECT_I64(t.steal, AS_TEXT_NA);
}

static void t_cpu_line_bad(void)
{
	static const char *const bad[] = {
		"",
		"cpu",
		"cpu\n",
		"cpu \n",
		"cpu0 1 2 3\n",
		"cpux 1 2 3 4\n",
		"cpu99999999999 1 2 3 4\n",
		"intr 1 2 3 4\n",
		"cpu  1 2 3 4",
		"cpu  1 2 3 -4\n",
		"cpu  1 2 3 99999999999999999999\n",
	};
	struct as_cpu_times t;

	for (size_t i = 0; i < AS_LEN(bad); i++) {
		size_t n = strlen(bad[i]);

		if (as_parse_cpu(utest_edge(bad[i], n), n, &t))
			UTEST_FAIL("'%s' was taken for a cpu line", bad[i]);
	}
}

static void t_cpu_sum_overflow(void)
{
	static const char line[] = "cpu  9223372036854775807 1 2 3\n";
	struct as_cpu_times t;

	EXPECT(as_parse_cpu(line, sizeof line - 1, &t) > 0);
	EXPECT_I64(t.user, AS_TEXT_NA);
	EXPECT_I64(t.system, 2);
}

static void t_ticks(void)
{
	EXPECT_I64(as_ticks_ns(0, 100), 0);
	EXPECT_I64(as_ticks_ns(123, 100), INT64_C(1230000000));
	EXPECT_I64(as_ticks_ns(1, 1024), 976562);
	/* 256 cores for a year */
	EXPECT_I64(as_ticks_ns(INT64_C(807321600000), 100), INT64_C(8073216000000000000));
	EXPECT_I64(as_ticks_ns(AS_TEXT_NA, 100), AS_TEXT_NA);
	EXPECT_I64(as_ticks_ns(INT64_MAX, 100), AS_TEXT_NA);
}

static void t_meminfo_bad(void)
{
	static const char text[] = "MemFree: 5 kB\nCached: 7 kB\n";
	struct as_meminfo m;

	EXPECT(!as_parse_meminfo(text, sizeof text - 1, &m));
	EXPECT(!as_parse_meminfo("", 0, &m));
	EXPECT_I64(m.available, AS_TEXT_NA);
	EXPECT_I64(m.used, AS_TEXT_NA);
}

static void t_loadavg(void)
{
	static const char text[] = "1.07 0.83 12.50 3/412 4250\n";
	int64_t v[3];

	EXPECT(as_parse_loadavg(text, sizeof text - 1, v));
	EXPECT_I64(v[0], 1070000);
	EXPECT_I64(v[1], 830000);
	EXPECT_I64(v[2], 12500000);
	EXPECT(!as_parse_loadavg("1.07 0.83", 9, v));
	EXPECT(!as_parse_loadavg("1.07 0.83 x", 11, v));
	EXPECT(!as_parse_loadavg("", 0, v));
}

static void t_ready(void)
{
	static const char text[] = "1.07 0.83 12.50 3/412 4250\n";
	uint64_t v = 0;

	EXPECT(as_parse_ready(text, sizeof text - 1, &v));
	EXPECT_I64((int64_t)v, 3);
	EXPECT(!as_parse_ready("1.07 0.83 12.50 3", 17, &v));
	EXPECT(!as_parse_ready("1.07 0.83 12.50 /412 4250", 25, &v));
	EXPECT(!as_parse_ready("1.07 0.83 12.50", 15, &v));
}

/* A file that is read while it is written can stop anywhere. */
static void t_every_prefix(void)
{
	static const char text[] =
		"cpu  1 2 3 4 5 6 7 8 9 10\nMemTotal:  12 kB\nMemAvailable: 3 kB\n"
		"0.5 0.25 0.125 1/2 3\nsome avg10=0.00 total=77\nfull total=5\n";

	for (size_t n = 0; n < sizeof text; n++) {
		char *p = utest_edge(text, n);
		struct as_cpu_times t;
		struct as_meminfo m;
		struct as_pressure psi;
		int64_t load[3];
		uint64_t ready;

		EXPECT(as_parse_cpu(p, n, &t) <= n);
		(void)as_parse_meminfo(p, n, &m);
		(void)as_parse_loadavg(p, n, load);
		(void)as_parse_ready(p, n, &ready);
		(void)as_parse_pressure(p, n, &psi);
	}
}

/* ── the machine ──────────────────────────────────────────────────────── */

/* Without the cores, system.c reads /proc/stat itself. */
static void without_cores(struct rig *r)
{
	for (size_t f = AS_F_CORE_USER; f <= AS_F_CORE_STEAL; f++)
		r->want.field[f] = false;
}

static void t_gauges(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	without_cores(&r);
	rig_start(&r, &as_collect_system);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_USED, 0), (16384000 - 8192000) * KB);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_AVAIL, 0), 8192000 * KB);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_CACHE, 0), (4194304 + 131072 + 524288) * KB);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_SWAP, 0), 1048576 * KB);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD1, 0), 1070000);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD5, 0), 830000);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD15, 0), 12500000);
	rig_expect_origin(&r, AS_F_SYS_MEM_AVAIL, AS_MEASURED, "/proc/meminfo");
	rig_expect_origin(&r, AS_F_SYS_STEAL, AS_MEASURED, "/proc/stat");
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), 0); /* counters start with the run */
	rig_done(&r);
}

static void t_counters(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	without_cores(&r);
	rig_start(&r, &as_collect_system);
	/* user +7 nice +2 system +3 idle +50 iowait +5 irq +1 softirq +4 steal +6 guest +7 */
	rig_write(&r, "proc/stat", "cpu  100010 213 30014 4000087 5008 102 507 67 7008 13\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), 9 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_SYSTEM, 0), 8 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_IDLE, 0), 50 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_IOWAIT, 0), 5 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_STEAL, 0), 6 * TICK);
	/* iowait is taken back by 3, then grows by 4: it never goes back */
	rig_write(&r, "proc/stat", "cpu  100010 213 30014 4000087 5005 102 507 67 7008 13\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_IOWAIT, 0), 5 * TICK);
	rig_write(&r, "proc/stat", "cpu  100010 213 30014 4000087 5009 102 507 67 7008 13\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_IOWAIT, 0), 6 * TICK);
	rig_done(&r);
}

/* A file that stops making sense in the middle leaves its cells unknown, and those only. */
static void t_damaged_later(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	without_cores(&r);
	rig_start(&r, &as_collect_system);
	rig_write(&r, "proc/stat", "cpu  what\n");
	rig_write(&r, "proc/loadavg", "");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD1, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_AVAIL, 0), 8192000 * KB);
	rig_done(&r);
}

/* A file that is not the kernel's says nothing, whatever is in it. */
static void t_ready_of_another(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	rig_write(&r, "proc/loadavg", "0.00 0.00 0.00 1/1 1\n");
	EXPECT_I64(as_ready_open(&r.env), -1);
	EXPECT(!as_ready_nobody(-1));
	rig_done(&r);
}

static void t_old_kernel(void)
{
	struct rig r;

	rig_fixture(&r, "old-kernel");
	without_cores(&r);
	rig_start(&r, &as_collect_system);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_AVAIL, 0), (512000 + 256000 + 64000) * KB);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_MEM_USED, 0), (2048000 - 832000) * KB);
	rig_expect_origin(&r, AS_F_SYS_MEM_AVAIL, AS_MODELLED,
			  "/proc/meminfo: free, cached and buffers");
	rig_expect_origin(&r, AS_F_SYS_MEM_USED, AS_MODELLED,
			  "/proc/meminfo: free, cached and buffers");
	rig_expect_origin(&r, AS_F_SYS_SWAP, AS_MEASURED, "/proc/meminfo");
	EXPECT_I64(rig_cell(&r, AS_F_SYS_SWAP, 0), 24000 * KB);
	rig_done(&r);
}

static void t_missing(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	without_cores(&r);
	rig_write(&r, "proc/loadavg", NULL);
	rig_write(&r, "proc/meminfo", "Nonsense\n");
	rig_write(&r, "proc/stat", "cpu  1 2 3 4\n"); /* no iowait, no steal */
	rig_start(&r, &as_collect_system);
	rig_sample(&r);
	rig_expect_origin(&r, AS_F_SYS_LOAD5, AS_UNAVAILABLE,
			  "/proc/loadavg: No such file or directory");
	rig_expect_origin(&r, AS_F_SYS_SWAP, AS_UNAVAILABLE, "/proc/meminfo: not understood");
	rig_expect_origin(&r, AS_F_SYS_STEAL, AS_UNAVAILABLE, "/proc/stat: not in it");
	rig_expect_origin(&r, AS_F_SYS_USER, AS_MEASURED, "/proc/stat");
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD5, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_SWAP, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_STEAL, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), 0);
	rig_done(&r);
}

/* Nobody asked: no file is opened, no cell is filled. */
static void t_pays_only_for_what_is_wanted(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	r.want = as_want_none();
	r.want.field[AS_F_SYS_LOAD1] = true;
	rig_write(&r, "proc/meminfo", NULL);
	rig_start(&r, &as_collect_system);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD1, 0), 1070000);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD5, 0), AS_NA);
	EXPECT(!r.told[AS_F_SYS_MEM_USED] && !r.told[AS_F_SYS_LOAD5]);
	rig_done(&r);
}

/* ── cores ────────────────────────────────────────────────────────────── */

static void t_cores(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	rig_start(&r, &as_collect_cores);
	EXPECT_U64(r.ninstances, 4);
	EXPECT_STR(r.instances[3].name, "cpu3");
	EXPECT_I64(r.instances[3].key, 3);
	EXPECT_U64(r.instances[3].id, 3);
	/* cpu1 is switched off; cpu3 does 1 user, 2 system, 3 iowait, 4 steal; cpu9 is new */
	rig_write(&r, "proc/stat",
		  "cpu  100004 211 30013 4000037 5006 101 503 65 7001 13\n"
		  "cpu0 25001 53 7501 1000003 1201 31 127 17 3501 7\n"
		  "cpu2 25001 53 7501 1000003 1301 20 127 17 0 0\n"
		  "cpu3 25001 52 7508 1000028 1303 20 123 14 0 0\n"
		  "cpu9 7 7 7 7 7 7 7 7 7 7\n"
		  "intr 1 2 3\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_USER, 0), 0);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_USER, 1), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_USER, 3), 1 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_SYSTEM, 3), 2 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_IOWAIT, 3), 3 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_STEAL, 3), 4 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_USER, 4), 0); /* its counters start now */
	EXPECT_U64(r.ninstances, 5);                    /* each is told once */
	EXPECT_STR(r.instances[4].name, "cpu9");
	/* the machine's line came along */
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), 1 * TICK);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_STEAL, 0), 4 * TICK);
	rig_expect_origin(&r, AS_F_SYS_USER, AS_MEASURED, "/proc/stat");
	rig_expect_origin(&r, AS_F_CORE_STEAL, AS_MEASURED, "/proc/stat");
	rig_done(&r);
}

static void t_cores_missing(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	rig_write(&r, "proc/stat", NULL);
	rig_start(&r, &as_collect_cores);
	rig_sample(&r);
	EXPECT_U64(r.frame.n, 0);
	rig_expect_origin(&r, AS_F_CORE_USER, AS_UNAVAILABLE,
			  "/proc/stat: No such file or directory");
	rig_expect_origin(&r, AS_F_SYS_USER, AS_UNAVAILABLE,
			  "/proc/stat: No such file or directory");
	rig_done(&r);
}

/* A machine with more cores than the first buffer holds, and interrupts without end. */
static void t_many_cores(void)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct rig r;

	as_buf_str(&text, "cpu  8192 0 8192 0 0 0 0 0 0 0\n");
	for (int i = 0; i < RIG_INSTANCES; i++) {
		as_buf_fmt(&text, "cpu%d 111111111111111111 0 1000000000000000 0 0 0 0 0 0 0", i);
		as_buf_fill(&text, ' ', 300);
		as_buf_str(&text, "\n");
	}
	as_buf_str(&text, "intr");
	for (int i = 0; i < 100000; i++)
		as_buf_str(&text, " 7");
	as_buf_str(&text, "\n");
	EXPECT(!text.bad);
	rig_fixture(&r, "v2");
	rig_write(&r, "proc/stat", text.p);
	rig_start(&r, &as_collect_cores);
	EXPECT_U64(r.ninstances, RIG_INSTANCES);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CORE_USER, RIG_INSTANCES - 1), 0);
	rig_done(&r);
}

/* One tick has one row of the machine, whoever adds to it. */
static void t_one_row(void)
{
	const struct as_collector *all[] = {&as_collect_system, &as_collect_cores, &as_collect_psi};
	struct rig r, part[3];
	struct as_err err;

	rig_fixture(&r, "v2");
	for (size_t i = 0; i < 3; i++) {
		part[i] = r;
		part[i].sink.state = &part[i];
		part[i].tee.sinks = &part[i].sink;
		part[i].c.sink = &part[i].tee;
		rig_start(&part[i], all[i]);
	}
	as_frame_start(&r.frame, 0);
	for (size_t i = 0; i < 3; i++)
		EXPECT_OK(all[i]->sample(part[i].state, &part[i].c, &r.frame, &err), err);
	EXPECT_U64(r.frame.n, 1 + 4);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_USER, 0), 0);
	EXPECT_I64(rig_cell(&r, AS_F_SYS_LOAD1, 0), 1070000);
	EXPECT_I64(rig_cell(&r, AS_F_PSI_IO, 0), 0);
	for (size_t i = 0; i < 3; i++)
		rig_stop(&part[i]);
	rig_done(&r);
}

/* This very machine: every column is there and the clock of its cores moves on. */
static void t_real(void)
{
	struct timespec pause = as_timespec(300 * AS_MSEC);
	struct rig r;

	rig_machine(&r);
	rig_start(&r, &as_collect_cores);
	int64_t start = as_now();
	(void)nanosleep(&pause, NULL);
	rig_sample(&r);
	double wall = as_seconds(as_now() - start);
	int64_t sum = 0;
	for (size_t f = AS_F_SYS_USER; f <= AS_F_SYS_IDLE; f++)
		sum += rig_cell(&r, (enum as_field_id)f, 0);
	/* all kinds of time of all cores make up the time that passed, give or take ticks */
	double cores = (double)r.ninstances;
	EXPECT_NEAR((double)sum / 1e9, wall * cores, 0.5 * wall * cores);
	rig_done(&r);
}

UTEST_MAIN(T(t_cpu_line), T(t_cpu_line_short), T(t_cpu_line_bad), T(t_cpu_sum_overflow), T(t_ticks),
	   T(t_meminfo_bad), T(t_loadavg), T(t_ready), T(t_every_prefix), T(t_gauges),
	   T(t_counters), T(t_damaged_later), T(t_ready_of_another), T(t_old_kernel), T(t_missing),
	   T(t_pays_only_for_what_is_wanted), T(t_cores), T(t_cores_missing), T(t_many_cores),
	   T(t_one_row), T(t_real))
