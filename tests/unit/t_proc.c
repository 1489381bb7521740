/* proc -- what /proc/PID says, also when the text is cut or hostile. */
#include "base/cleanup.h"
#include "utest.h"

#include "os/proc.h"

static const char stat_line[] =
	"4242 (we) ird (x y) S 4000 4242 4000 34816 4242 4194304 1103 2207 7 11 301 53 101 17 20 "
	"0 3 0 123456 104857600 2560 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";

static void t_stat(void)
{
	struct as_proc_stat s;
	size_t n = sizeof stat_line - 1;

	EXPECT(as_parse_stat(utest_edge(stat_line, n), n, &s));
	EXPECT_I64(s.pid, 4242);
	EXPECT_STR(s.comm, "we) ird (x y");
	EXPECT_I64(s.state, 'S');
	EXPECT_I64(s.ppid, 4000);
	EXPECT_I64(s.minflt, 1103);
	EXPECT_I64(s.cminflt, 2207);
	EXPECT_I64(s.majflt, 7);
	EXPECT_I64(s.cmajflt, 11);
	EXPECT_I64(s.utime, 301);
	EXPECT_I64(s.stime, 53);
	EXPECT_I64(s.cutime, 101);
	EXPECT_I64(s.cstime, 17);
	EXPECT_I64(s.threads, 3);
	EXPECT_I64(s.start, 123456);
	EXPECT_I64(s.vsize, 104857600);
	EXPECT_I64(s.rss, 2560);
}

static void t_rollup(void)
{
	static const char text[] = "560004e42000-7ffe881d1000 ---p 00000000 00:00 0  [rollup]\n"
				   "Rss:                1636 kB\nPss:                 172 kB\n"
				   "Pss_Dirty:           116 kB\nPss_Anon:            110 kB\n"
				   "Pss_File:             56 kB\nPss_Shmem:             6 kB\n"
				   "Shared_Clean:       1488 kB\nShared_Dirty:          0 kB\n"
				   "Private_Clean:        32 kB\nPrivate_Dirty:       116 kB\n"
				   "Referenced:         1636 kB\nAnonymous:           118 kB\n";
	size_t n = sizeof text - 1;
	struct as_proc_rollup r;

	EXPECT(as_parse_rollup(utest_edge(text, n), n, &r));
	EXPECT_I64(r.rss, 1636 * 1024);
	EXPECT_I64(r.pss, 172 * 1024);
	EXPECT_I64(r.uss, 148 * 1024);
	EXPECT_I64(r.anon, 118 * 1024);
	EXPECT_I64(r.pss_anon, 110 * 1024);
	EXPECT_I64(r.pss_shmem, 6 * 1024);
	n = (size_t)(strstr(text, "Private_Clean") - text); /* without USS it is no answer */
	EXPECT(!as_parse_rollup(utest_edge(text, n), n, &r));
	EXPECT_I64(r.uss, AS_PROC_NA);
	EXPECT(!as_parse_rollup("", 0, &r));
}

static void t_every_prefix(void)
{
	size_t whole = sizeof stat_line - 1;
	const char *after = strstr(stat_line, " 2560");

	for (size_t n = 0; n <= whole; n++) {
		struct as_proc_stat s;
		bool ok = as_parse_stat(utest_edge(stat_line, n), n, &s);

		EXPECT(!ok || n > (size_t)(after - stat_line)); /* never half a line */
	}
}

static void t_long_name(void)
{
	char line[400] = "1 (";
	struct as_proc_stat s;

	memset(line + 3, 'n', 200);
	const char *rest = strrchr(stat_line, ')');
	size_t n = 203 + strlen(rest);
	memcpy(line + 203, rest, strlen(rest));
	EXPECT(as_parse_stat(utest_edge(line, n), n, &s));
	EXPECT_U64(strlen(s.comm), sizeof s.comm - 1);
}

static void t_status(void)
{
	static const char text[] =
		"Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t1024 kB\nRssAnon:\t 512 kB\n"
		"RssFile:\t400 kB\nRssShmem:\t112 kB\nVmSwap:\t0 kB\n"
		"voluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t3\n";
	struct as_proc_status s;

	for (size_t n = 0; n < sizeof text; n++)
		as_parse_status(utest_edge(text, n), n, &s);
	as_parse_status(text, sizeof text - 1, &s);
	EXPECT_I64(s.hwm, 2048 * 1024);
	EXPECT_I64(s.anon, 512 * 1024);
	EXPECT_I64(s.shmem, 112 * 1024);
	EXPECT_I64(s.swap, 0);
	EXPECT_I64(s.voluntary, 17);
	EXPECT_I64(s.forced, 3);
	as_parse_status("Name:\tkthread\n", 14, &s); /* a kernel thread has no memory lines */
	EXPECT_I64(s.rss, AS_PROC_NA);
	EXPECT_I64(s.voluntary, AS_PROC_NA);
}

static void t_io(void)
{
	static const char text[] = "rchar: 101\nwchar: 103\nsyscr: 7\nsyscw: 11\nread_bytes: 4096\n"
				   "write_bytes: 8192\ncancelled_write_bytes: 4096\n";
	struct as_proc_io io;

	as_parse_io(utest_edge(text, sizeof text - 1), sizeof text - 1, &io);
	EXPECT_I64(io.rchar, 101);
	EXPECT_I64(io.wchar, 103);
	EXPECT_I64(io.syscr, 7);
	EXPECT_I64(io.syscw, 11);
	EXPECT_I64(io.read_bytes, 4096);
	EXPECT_I64(io.write_bytes, 8192);
	EXPECT_I64(io.cancelled, 4096);
	as_parse_io("", 0, &io);
	EXPECT_I64(io.rchar, AS_PROC_NA);
}

static void t_sched(void)
{
	struct as_proc_sched s;

	EXPECT(as_parse_sched(utest_edge("123 45 6\n", 9), 9, &s));
	EXPECT_I64(s.run_ns, 123);
	EXPECT_I64(s.wait_ns, 45);
	EXPECT_I64(s.slices, 6);
	EXPECT(!as_parse_sched("123 45", 6, &s));
	EXPECT(!as_parse_sched("", 0, &s));
}

static bool clocks(const char *text, struct as_proc_clocks *ret)
{
	return as_parse_clocks(utest_edge(text, strlen(text)), strlen(text), ret);
}

static void t_clocks(void)
{
	struct as_proc_clocks c;

	EXPECT(clocks("monotonic        1000         7\nboottime           -2 999999999\n", &c));
	EXPECT_I64(c.monotonic, INT64_C(1000000000007));
	EXPECT_I64(c.boottime, -1000000001);
	EXPECT(clocks("boottime 0 0\nmonotonic 0 0", &c));
	EXPECT_I64(c.monotonic, 0);
	EXPECT(!clocks("monotonic 1 0\n", &c));
	EXPECT(!clocks("monotonic 1 0\nboottime 1\n", &c));
	EXPECT(!clocks("monotonic 1 0\nboottime 1 1000000000\n", &c));
	EXPECT(!clocks("monotonic 1 0\nboottime 9999999999999 0\n", &c));
	EXPECT(!clocks("", &c));
}

static void t_ids(void)
{
	static const char *const bad[] = {"", "NSpid:\n", "NSpid:\t0\n", "Pid: 7\n",
					  "NSpid: 1 x\n"};
	const char in_two[] = "Name:\tx\nNSpid:\t4711\t12\t1\nNSpgid:\t9\t8\n";
	struct as_proc_ids ids;

	EXPECT(as_parse_ids(in_two, sizeof in_two - 1, &ids) && ids.here == 4711 &&
	       ids.inside == 1);
	EXPECT(as_parse_ids("NSpid: 5", 8, &ids) && ids.here == 5 && ids.inside == 5);
	for (size_t i = 0; i < AS_LEN(bad); i++)
		EXPECT(!as_parse_ids(bad[i], strlen(bad[i]), &ids));
}

UTEST_MAIN(T(t_stat), T(t_rollup), T(t_every_prefix), T(t_long_name), T(t_status), T(t_io),
	   T(t_sched), T(t_clocks), T(t_ids))
