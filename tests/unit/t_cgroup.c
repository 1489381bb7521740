/*
 * cgroup -- where the groups are, what their files say, and real ones on this
 * machine, whose truth is the job's own clock and the bytes it touched.
 */
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "os/cgtext.h"
#include "os/cgwhere.h"

extern const struct as_collector as_collect_cgroup;

#define MIB INT64_C(1048576)

static char *text_of(struct as_span s)
{
	char *p = strndup(s.p, s.n);

	EXPECT(p != NULL);
	return p;
}

#define EXPECT_SPAN(got, want)                                                                     \
	do {                                                                                       \
		char *text_ = text_of(got);                                                        \
		EXPECT_STR(text_, want);                                                           \
		free(text_);                                                                       \
	} while (0)

/* ── parsers ──────────────────────────────────────────────────────────── */

static void t_group_lines(void)
{
	struct as_cg_line g;

	EXPECT(as_parse_cg_line(as_span_of("4:cpu,cpuacct:/a:b/c"), &g) && !g.v2);
	EXPECT_SPAN(g.controllers, "cpu,cpuacct");
	EXPECT_SPAN(g.path, "/a:b/c");
	EXPECT(as_parse_cg_line(as_span_of("0::/"), &g) && g.v2);
	EXPECT_SPAN(g.path, "/");
	EXPECT(as_parse_cg_line(as_span_of("1:name=systemd:/x"), &g) && !g.v2);
	EXPECT_SPAN(g.controllers, "name=systemd");
	EXPECT(!as_parse_cg_line(as_span_of(""), &g));
	EXPECT(!as_parse_cg_line(as_span_of("0:"), &g));
	EXPECT(!as_parse_cg_line(as_span_of("0::"), &g));
	EXPECT(!as_parse_cg_line(as_span_of("x::/"), &g));
	EXPECT(!as_parse_cg_line(as_span_of("4:memory:relative"), &g));
}

static void t_mount_lines(void)
{
	struct as_cg_mount m;

	EXPECT(as_parse_cg_mount(as_span_of("36 35 98:0 /root /mnt\\040x rw master:1 shared:2 - "
					    "cgroup cg rw,cpu,cpuacct"),
				 &m));
	EXPECT(!m.v2);
	EXPECT_SPAN(m.root, "/root");
	EXPECT_SPAN(m.point, "/mnt\\040x");
	EXPECT(as_span_lists(m.options, "cpu") && as_span_lists(m.options, "cpuacct"));
	EXPECT(!as_span_lists(m.options, "cpuse") && !as_span_lists(m.options, "cp"));
	EXPECT(as_parse_cg_mount(as_span_of("31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
				 &m));
	EXPECT(m.v2);
	EXPECT(!as_parse_cg_mount(as_span_of("28 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw"), &m));
	EXPECT(!as_parse_cg_mount(as_span_of("31 23 0:26 / /sys/fs/cgroup rw shared:1"), &m));
	EXPECT(!as_parse_cg_mount(as_span_of(""), &m));
}

static void t_unescape(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {{"/a\\040b", "/a b"}, {"/a\\134", "/a\\"},    {"/a\\04", "/a\\04"},
		     {"/\\0400", "/ 0"},   {"/a\\999", "/a\\999"}, {"", ""}};
	char out[32];

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		size_t n = strlen(cases[i].in);
		size_t len = as_unescape(as_span(utest_edge(cases[i].in, n), n), out);

		out[len] = '\0';
		EXPECT_STR(out, cases[i].out);
	}
}

static void t_below(void)
{
	static const struct {
		const char *path, *root, *below; /* NULL: the mount does not show it */
	} cases[] = {
		{"/", "/", ""},
		{"/a/b", "/", "/a/b"},
		{"/docker/12", "/docker/12", ""},
		{"/docker/12/job", "/docker/12", "/job"},
		{"/docker/123", "/docker/12", NULL},
		{"/other", "/docker/12", NULL},
		{"/", "/docker/12", NULL},
		{"/../b7c8", "/", NULL},      /* beside us, and only we are mounted    */
		{"/../b7c8", "/..", "/b7c8"}, /* the mount is of a group above us      */
		{"/..", "/..", ""},
		{"/", "/..", NULL}, /* where below it we are, nothing tells  */
		{"/../../x", "/..", NULL},
	};
	struct as_span below;

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		bool shown =
			as_cg_below(as_span_of(cases[i].path), as_span_of(cases[i].root), &below);

		if (shown != (cases[i].below != NULL))
			UTEST_FAIL("'%s' below '%s': %d", cases[i].path, cases[i].root, shown);
		if (shown)
			EXPECT_SPAN(below, cases[i].below);
	}
}

static void t_numbers(void)
{
	static const struct {
		const char *text;
		int64_t want;
	} cases[] = {{"12345\n", 12345},
		     {"max\n", INT64_MAX},
		     {"-1\n", INT64_MAX},
		     {"9223372036854771712\n", INT64_MAX}, /* v1: no limit, pages of 4 KiB  */
		     {"9223372036854710272\n", INT64_MAX}, /* and of 64 KiB                 */
		     {"", AS_TEXT_NA},
		     {"x", AS_TEXT_NA},
		     {"18446744073709551615\n", AS_TEXT_NA}};

	for (size_t i = 0; i < AS_LEN(cases); i++)
		EXPECT_I64(as_parse_cg_number(cases[i].text, strlen(cases[i].text)), cases[i].want);
	EXPECT_I64(as_parse_cpu_max("150000 100000\n", 14), 1500000);
	EXPECT_I64(as_parse_cpu_max("max 100000\n", 11), INT64_MAX);
	EXPECT_I64(as_parse_cpu_max("5000\n", 5), AS_TEXT_NA);
	EXPECT_I64(as_parse_cpu_max("5000 0\n", 7), AS_TEXT_NA);
	EXPECT_I64(as_parse_cpu_max("", 0), AS_TEXT_NA);
}

static void t_io(void)
{
	static const char blkio[] =
		"8:0 Read 100\n8:0 Write 20\n8:0 Total 120\n8:1 Read 3\nTotal 123\n";
	struct as_cg_io io;

	EXPECT(as_parse_io_stat("8:0 rbytes=5 wbytes=7 rios=1\n8:1 rbytes=10 dbytes=9\n", 53, &io));
	EXPECT_I64(io.read, 15);
	EXPECT_I64(io.write, 7);
	EXPECT(as_parse_io_stat("", 0, &io)); /* nothing was moved yet */
	EXPECT_I64(io.read, 0);
	EXPECT(!as_parse_io_stat("8:0 rbytes=x wbytes=7\n", 22, &io));
	EXPECT(as_parse_blkio(blkio, sizeof blkio - 1, &io));
	EXPECT_I64(io.read, 103);
	EXPECT_I64(io.write, 20);
	EXPECT(as_parse_blkio("Total 0\n", 8, &io));
	EXPECT(!as_parse_blkio(blkio, 30, &io)); /* cut off */
	EXPECT(!as_parse_blkio("", 0, &io));
}

static void t_every_prefix(void)
{
	static const char text[] =
		"4:cpu,cpuacct:/a\n36 35 98:0 /r\\040 /sys/fs/cgroup/x rw m:1 - cgroup "
		"c rw,cpu\n150000 100000\n8:0 rbytes=5 wbytes=7\n8:0 Read 5\nTotal 5\n";

	for (size_t n = 0; n < sizeof text; n++) {
		char *p = utest_edge(text, n), out[sizeof text];
		struct as_span s = as_span(p, n);
		struct as_cg_line g;
		struct as_cg_mount m;
		struct as_cg_io io;

		(void)as_parse_cg_line(s, &g);
		(void)as_parse_cg_mount(s, &m);
		(void)as_unescape(s, out);
		(void)as_parse_cg_number(p, n);
		(void)as_parse_cpu_max(p, n);
		(void)as_parse_io_stat(p, n, &io);
		(void)as_parse_blkio(p, n, &io);
	}
}

/* ── where the groups are ─────────────────────────────────────────────── */

static void places(const char *groups, const char *mounts, bool fixture, struct as_cg_places *ret)
{
	struct as_err err;

	EXPECT_OK(as_cg_places(as_span_of(groups), as_span_of(mounts), fixture, ret, &err), err);
}

static void t_places_subtree(void)
{
	struct as_cg_places p;

	places("4:cpu,cpuacct:/docker/ab/job\n3:memory:/docker/ab\n2:blkio:/elsewhere\n",
	       "30 1 0:1 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
	       "31 1 0:2 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
	       "32 1 0:3 /docker/ab /sys/fs/cgroup/blkio ro - cgroup cgroup rw,blkio\n",
	       false, &p);
	EXPECT_STR(p.part[AS_CG_CPUACCT].path, "cpu,cpuacct/job");
	EXPECT_STR(p.part[AS_CG_CPU].path, "cpu,cpuacct/job");
	EXPECT(as_cg_first(&p, AS_CG_CPU) == AS_CG_CPUACCT);
	EXPECT_STR(p.part[AS_CG_MEMORY].path, "memory");
	EXPECT_STR(p.part[AS_CG_BLKIO].path, NULL);
	EXPECT_STR(p.part[AS_CG_V2].path, NULL);
	EXPECT_STR(p.why, "");
	as_cg_places_done(&p);
}

static void t_places_elsewhere(void)
{
	static const char *const mounts =
		"30 1 0:1 / /odd\\040place/mem rw - cgroup cgroup rw,memory\n"
		"31 1 0:2 / /sys/fs/cgroup/all rw - cgroup cgroup rw,cpuset,cpu,cpuacct\n";
	struct as_cg_places p;

	places("2:memory:/a\n1:cpuset,cpu,cpuacct:/b\n", mounts, false, &p);
	EXPECT_STR(p.part[AS_CG_MEMORY].path, "/odd place/mem/a");
	EXPECT(!p.part[AS_CG_MEMORY].shared);
	EXPECT_STR(p.part[AS_CG_CPU].path, "all/b");
	EXPECT(p.part[AS_CG_CPU].shared); /* with cpuset: no group is made there */
	as_cg_places_done(&p);
	/* a captured tree has no folders but its own */
	places("2:memory:/a\n", mounts, true, &p);
	EXPECT_STR(p.part[AS_CG_MEMORY].path, NULL);
	EXPECT_STR(p.why, "no control groups are mounted here");
	as_cg_places_done(&p);
}

/* The same hierarchy mounted twice: the first mount that shows the group is taken. */
static void t_places_twice(void)
{
	struct as_cg_places p;

	places("0::/a/b\n",
	       "30 1 0:1 /x /sys/fs/cgroup/one rw - cgroup2 cgroup2 rw\n"
	       "31 1 0:1 /a /sys/fs/cgroup/two rw - cgroup2 cgroup2 rw\n",
	       false, &p);
	EXPECT_STR(p.part[AS_CG_V2].path, "two/b");
	EXPECT_U64(p.part[AS_CG_V2].mount, 3);
	char *path = p.part[AS_CG_V2].path;
	EXPECT(as_cg_up(path, 3));
	EXPECT_STR(path, "two");
	EXPECT(!as_cg_up(path, 3));
	as_cg_places_done(&p);
}

static void t_of_fixtures(void)
{
	struct rig r;
	struct as_err err;

	rig_fixture(&r, "hybrid");
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	EXPECT_STR(r.cgroup.path[AS_CG_MEMORY], "memory/session/job");
	EXPECT_STR(r.cgroup.path[AS_CG_V2], "unified/job");
	EXPECT_STR(r.cgroup.path[AS_CG_CPUACCT], "cpuacct/job");
	EXPECT_STR(r.cgroup.path[AS_CG_BLKIO], NULL); /* this kernel counts nothing there */
	EXPECT(!r.cgroup.own);
	as_cgroup_done(&r.env, &r.cgroup);
	EXPECT_OK(as_cgroup_of(&r.env, 1, &r.cgroup, &err), err); /* no such process */
	EXPECT_STR(r.cgroup.path[AS_CG_MEMORY], NULL);
	EXPECT_STR(r.cgroup.why, "open '1/cgroup': No such file or directory");
	rig_done(&r);

	rig_fixture(&r, "v2");
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	EXPECT_STR(r.cgroup.path[AS_CG_V2], "./system.slice/web.service");
	as_cgroup_done(&r.env, &r.cgroup);
	EXPECT_OK(as_cgroup_of(&r.env, 4243, &r.cgroup, &err), err); /* its group was removed */
	EXPECT_STR(r.cgroup.path[AS_CG_V2], NULL);
	rig_done(&r);
}

/* In a namespace "/" is the container's group, not the root of the machine. */
static void t_of_container(void)
{
	struct rig r;
	struct as_err err;

	rig_fixture(&r, "container");
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	EXPECT_STR(r.cgroup.path[AS_CG_V2], ".");
	as_cgroup_done(&r.env, &r.cgroup);
	EXPECT_OK(as_cgroup_of(&r.env, 77, &r.cgroup, &err), err);
	EXPECT_STR(r.cgroup.path[AS_CG_V2], NULL);
	as_cgroup_done(&r.env, &r.cgroup);
	rig_write(&r, "sys/fs/cgroup/cgroup.events", NULL); /* now it is the root */
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	EXPECT_STR(r.cgroup.path[AS_CG_V2], NULL);
	rig_done(&r);
}

static void t_limits(void)
{
	static const struct {
		const char *fixture;
		int pid;
		int64_t cpu, memory;
	} cases[] = {
		{"v2", 4242, 1200000, 1024 * MIB}, /* both of the slice around it         */
		{"v1", 4242, 500000, 256 * MIB},   /* the latter of a group not shown     */
		{"container", 4242, 2500000, 128 * MIB},
		{"hybrid", 4242, AS_CG_UNLIMITED, AS_CG_UNLIMITED},
		{"old-kernel", 4242, AS_CG_UNLIMITED, AS_CG_UNLIMITED},
	};

	for (size_t i = 0; i < AS_LEN(cases); i++) {
		struct as_err err;
		struct rig r;

		rig_fixture(&r, cases[i].fixture);
		EXPECT_OK(as_cgroup_of(&r.env, cases[i].pid, &r.cgroup, &err), err);
		EXPECT_I64(r.cgroup.limits.cpu, cases[i].cpu);
		EXPECT_I64(r.cgroup.limits.memory, cases[i].memory);
		rig_done(&r);
	}
}

static void t_pids_of_fixture(void)
{
	struct rig r;
	struct as_err err;
	int32_t pids[4] = {0};
	size_t n = 0;

	rig_fixture(&r, "v2");
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	EXPECT_OK(as_cgroup_pids(&r.cgroup, pids, 4, &n, &err), err);
	EXPECT_U64(n, 2); /* one is listed twice, one is not of our pid namespace */
	EXPECT_I64(pids[0], 4242);
	EXPECT_I64(pids[1], 4250);
	EXPECT_OK(as_cgroup_pids(&r.cgroup, pids, 1, &n, &err), err);
	EXPECT_U64(n, 3); /* more than fit */
	EXPECT_I64(pids[0], 4250);
	rig_done(&r);
}

/* A captured tree is never written to. */
static void t_make_in_fixture(void)
{
	struct rig r;
	struct as_err err;

	rig_fixture(&r, "v2");
	EXPECT_OK(as_cgroup_make(&r.env, "abcd", &r.cgroup, &err), err);
	EXPECT(!r.cgroup.own);
	EXPECT_STR(r.cgroup.why, "a captured tree is only read");
	rig_done(&r);
	as_cgroup_done(&r.env, &(struct as_cgroup){0}); /* zeroed is fine */
}

/* ── what their files say ─────────────────────────────────────────────── */

static void start_of(struct rig *r, const char *fixture)
{
	struct as_err err;

	rig_fixture(r, fixture);
	EXPECT_OK(as_cgroup_of(&r->env, 4242, &r->cgroup, &err), err);
	r->c.cgroup = &r->cgroup;
	rig_start(r, &as_collect_cgroup);
}

#define WEB "sys/fs/cgroup/system.slice/web.service/"

static void t_v2_gauges(void)
{
	struct rig r;

	start_of(&r, "v2");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_MEM, 0), 314572800);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PEAK, 0), 419430400);
	EXPECT_I64(rig_cell(&r, AS_F_CG_ANON, 0), 209715200);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SHMEM, 0), 20971520);
	EXPECT_I64(rig_cell(&r, AS_F_CG_FILE, 0), 83886080 - 20971520);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SWAP, 0), 4096000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), 0);
	rig_expect_origin(&r, AS_F_CG_MEM, AS_ATTRIBUTED, "cgroup v2 memory.current");
	rig_expect_origin(&r, AS_F_CG_CPU, AS_ATTRIBUTED, "cgroup v2 cpu.stat");
	rig_expect_origin(&r, AS_F_CG_THROTTLED, AS_ATTRIBUTED,
			  "cgroup v2 cpu.stat, enclosing group");
	for (enum as_field_id f = AS_F_CG_CPU; f <= AS_F_CG_PSI_IO; f++)
		if (rig_cell(&r, f, 0) == AS_NA)
			UTEST_FAIL("%s is unknown", as_fields[f].key);
	rig_done(&r);
}

/* Two numbers that were not counted at one moment: their difference is never below 0. */
static void t_cache_below_shared(void)
{
	struct rig r;

	start_of(&r, "v2");
	rig_write(&r, WEB "memory.stat", "anon 4096\nfile 8192\nshmem 12288\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SHMEM, 0), 12288);
	EXPECT_I64(rig_cell(&r, AS_F_CG_FILE, 0), 0);
	rig_done(&r);
}

static void t_v2_counters(void)
{
	struct rig r;

	start_of(&r, "v2");
	rig_write(&r, WEB "cpu.stat",
		  "usage_usec 5000213\nuser_usec 3000020\nsystem_usec 2000193\n"
		  "nr_periods 999\nnr_throttled 999\nthrottled_usec 9999999\n");
	rig_write(&r, "sys/fs/cgroup/system.slice/cpu.stat",
		  "nr_periods 2010\nnr_throttled 310\nthrottled_usec 7000014\n");
	rig_write(&r, WEB "memory.events", "oom 9\noom_kill 4\n");
	rig_write(&r, WEB "io.stat",
		  "8:0 rbytes=1459201 wbytes=314773507\n"
		  "259:1 rbytes=40960 wbytes=8192\n");
	rig_write(&r, WEB "io.pressure", "some avg10=0 total=600012\nfull avg10=0 total=900000\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), 100000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_USER, 0), 3000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SYSTEM, 0), 97000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PERIODS, 0), 7); /* of the slice: its quota is smaller */
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLES, 0), 3);
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLED, 0), 11000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_OOM, 0), 3);
	EXPECT_I64(rig_cell(&r, AS_F_CG_READ, 0), 1);
	EXPECT_I64(rig_cell(&r, AS_F_CG_WRITE, 0), 3);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PSI_IO, 0), 1000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PSI_CPU, 0), 0);
	rig_done(&r);
}

/* Without an outer quota the group's own accounts of throttling are taken. */
static void t_v2_own_quota(void)
{
	struct rig r;
	struct as_err err;

	rig_fixture(&r, "v2");
	rig_write(&r, "sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	r.c.cgroup = &r.cgroup;
	rig_start(&r, &as_collect_cgroup);
	rig_write(&r, WEB "cpu.stat", "nr_periods 702\nnr_throttled 33\nthrottled_usec 1234580\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PERIODS, 0), 1);
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLES, 0), 2);
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLED, 0), 3000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), AS_NA); /* gone from the file */
	rig_done(&r);
}

static void t_v1(void)
{
	struct rig r;

	start_of(&r, "v1");
	rig_write(&r, "sys/fs/cgroup/cpu,cpuacct/docker/0a1b/cpuacct.usage", "12345679001\n");
	rig_write(&r, "sys/fs/cgroup/cpu,cpuacct/docker/0a1b/cpuacct.stat",
		  "user 1010\nsystem 214\n");
	rig_write(&r, "sys/fs/cgroup/cpu,cpuacct/docker/0a1b/cpu.stat",
		  "nr_periods 1000\nnr_throttled 84\nthrottled_time 5000000030\n");
	rig_write(&r, "sys/fs/cgroup/blkio/docker/0a1b/blkio.throttle.io_service_bytes_recursive",
		  "8:0 Read 7340033\n8:0 Write 2097154\n253:0 Read 4097\n253:0 Write 12288\n"
		  "Total 9\n");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), 100);
	EXPECT_I64(rig_cell(&r, AS_F_CG_USER, 0), 70000000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SYSTEM, 0), 30000000);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PERIODS, 0), 3);
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLES, 0), 1);
	EXPECT_I64(rig_cell(&r, AS_F_CG_THROTTLED, 0), 1);
	EXPECT_I64(rig_cell(&r, AS_F_CG_MEM, 0), 150994944);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PEAK, 0), 167772160);
	EXPECT_I64(rig_cell(&r, AS_F_CG_ANON, 0), 94371840); /* total_rss, not rss */
	EXPECT_I64(rig_cell(&r, AS_F_CG_SHMEM, 0), 10485760);
	EXPECT_I64(rig_cell(&r, AS_F_CG_FILE, 0), 52428800 - 10485760);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SWAP, 0), 8192);
	EXPECT_I64(rig_cell(&r, AS_F_CG_READ, 0), 2);
	EXPECT_I64(rig_cell(&r, AS_F_CG_WRITE, 0), 2);
	EXPECT_I64(rig_cell(&r, AS_F_CG_OOM, 0), 0);
	EXPECT_I64(rig_cell(&r, AS_F_CG_PSI_CPU, 0), AS_NA);
	rig_expect_origin(&r, AS_F_CG_USER, AS_ATTRIBUTED, "cgroup v1 cpuacct.stat");
	rig_expect_origin(&r, AS_F_CG_READ, AS_ATTRIBUTED,
			  "v1 blkio.throttle.io_service_bytes_recursive");
	rig_expect_origin(&r, AS_F_CG_PSI_CPU, AS_UNAVAILABLE, "in no file of the control group");
	rig_done(&r);
}

/* Each number from where it is best: ns of v1, the split of v2, pressure of v2. */
static void t_hybrid(void)
{
	struct rig r;

	start_of(&r, "hybrid");
	rig_sample(&r);
	rig_expect_origin(&r, AS_F_CG_CPU, AS_ATTRIBUTED, "cgroup v1 cpuacct.usage");
	rig_expect_origin(&r, AS_F_CG_USER, AS_ATTRIBUTED, "cgroup v2 cpu.stat");
	rig_expect_origin(&r, AS_F_CG_ANON, AS_ATTRIBUTED, "cgroup v1 memory.stat");
	rig_expect_origin(&r, AS_F_CG_PEAK, AS_ATTRIBUTED, "cgroup v1 memory.max_usage_in_bytes");
	rig_expect_origin(&r, AS_F_CG_OOM, AS_ATTRIBUTED, "cgroup v1 memory.oom_control");
	rig_expect_origin(&r, AS_F_CG_PSI_IO, AS_ATTRIBUTED, "cgroup v2 io.pressure");
	rig_expect_origin(&r, AS_F_CG_READ, AS_UNAVAILABLE, "in no file of the control group");
	EXPECT_I64(rig_cell(&r, AS_F_CG_SHMEM, 0), 16 * MIB);
	EXPECT_NEAR((double)rig_cell(&r, AS_F_CG_ANON, 0), 64 * (double)MIB,
		    0.01 * 64 * (double)MIB);
	EXPECT_NEAR((double)rig_cell(&r, AS_F_CG_FILE, 0), 8 * (double)MIB, 8192);
	rig_done(&r);
}

static void t_container(void)
{
	struct rig r;

	start_of(&r, "container");
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_FILE, 0), 12582912 - 4194304);
	EXPECT_I64(rig_cell(&r, AS_F_CG_READ, 0), 0);     /* io.stat is there and empty */
	EXPECT_I64(rig_cell(&r, AS_F_CG_PEAK, 0), AS_NA); /* before Linux 5.19 */
	rig_expect_origin(&r, AS_F_CG_PEAK, AS_UNAVAILABLE, "in no file of the control group");
	rig_done(&r);
}

static void t_no_group(void)
{
	struct rig r;

	rig_fixture(&r, "old-kernel");
	rig_start(&r, &as_collect_cgroup);
	rig_sample(&r);
	EXPECT_U64(r.frame.n, 0);
	rig_expect_origin(&r, AS_F_CG_CPU, AS_UNAVAILABLE, "the job has no control group");
	struct as_total totals[AS_NTOTALS];
	rig_finish(&r, totals);
	EXPECT(totals[AS_T_CPU].how == AS_UNAVAILABLE);
	EXPECT_STR(totals[AS_T_OOM_KILLS].source, "the job has no control group");
	rig_done(&r);
}

/* Each account is told its own reason, not the first that comes. */
static void t_reasons(void)
{
	static const char why[] = "blkio: counts nothing; memory: not counted here";
	struct rig r;
	struct as_err err;

	rig_fixture(&r, "old-kernel");
	EXPECT_OK(as_cgroup_make(&r.env, "x", &r.cgroup, &err), err);
	(void)snprintf(r.cgroup.why, sizeof r.cgroup.why, "%s", why);
	r.c.cgroup = &r.cgroup;
	rig_start(&r, &as_collect_cgroup);
	rig_expect_origin(&r, AS_F_CG_ANON, AS_UNAVAILABLE, "memory: not counted here");
	rig_expect_origin(&r, AS_F_CG_READ, AS_UNAVAILABLE, "blkio: counts nothing");
	rig_done(&r);
}

static void t_only_what_is_wanted(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	struct as_err err;
	EXPECT_OK(as_cgroup_of(&r.env, 4242, &r.cgroup, &err), err);
	r.c.cgroup = &r.cgroup;
	r.want = as_want_none();
	r.want.field[AS_F_CG_FILE] = true;
	rig_start(&r, &as_collect_cgroup);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_FILE, 0), 83886080 - 20971520);
	EXPECT_I64(rig_cell(&r, AS_F_CG_SHMEM, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), AS_NA);
	EXPECT(!r.told[AS_F_CG_CPU]);
	rig_stop(&r);
	/* nothing wanted at all: no row */
	r.want = as_want_none();
	rig_start(&r, &as_collect_cgroup);
	rig_sample(&r);
	EXPECT_U64(r.frame.n, 0);
	rig_done(&r);
}

static void t_totals_of_shared_group(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	start_of(&r, "v2");
	rig_write(&r, WEB "memory.events", "oom_kill 3\n");
	rig_write(&r, "sys/fs/cgroup/system.slice/cpu.stat",
		  "nr_periods 2010\nnr_throttled 310\nthrottled_usec 7000014\n");
	rig_finish(&r, t);
	EXPECT_I64(t[AS_T_OOM_KILLS].value, 2);
	EXPECT(t[AS_T_OOM_KILLS].how == AS_ATTRIBUTED);
	EXPECT_I64(t[AS_T_THROTTLED].value, 11000);
	EXPECT_STR(t[AS_T_THROTTLED].source, "cgroup v2 cpu.stat, enclosing group");
	EXPECT(t[AS_T_CPU].how == AS_UNAVAILABLE && t[AS_T_MEM_UPPER].how == AS_UNAVAILABLE);
	rig_done(&r);
}

/* User and system from clock ticks are made to add up to the exact total. */
static void t_totals_add_up(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	start_of(&r, "v1");
	r.cgroup.own = true;
	rig_write(&r, "sys/fs/cgroup/cpu,cpuacct/docker/0a1b/cpuacct.usage", "13345678901\n");
	rig_write(&r, "sys/fs/cgroup/cpu,cpuacct/docker/0a1b/cpuacct.stat",
		  "user 1078\nsystem 236\n");
	rig_finish(&r, t);
	EXPECT_I64(t[AS_T_CPU].value, INT64_C(1000000000));
	EXPECT_I64(t[AS_T_CPU_USER].value, INT64_C(750000000)); /* 75 of 75 + 25 ticks */
	EXPECT_I64(t[AS_T_CPU_SYSTEM].value, INT64_C(250000000));
	EXPECT_STR(t[AS_T_CPU].source, "cgroup v1 cpuacct.usage");
	EXPECT(t[AS_T_CPU].how == AS_MEASURED);
	EXPECT_I64(t[AS_T_MEM_UPPER].value, 167772160);
	EXPECT_STR(t[AS_T_MEM_UPPER].source, "cgroup v1 memory.max_usage_in_bytes");
	r.cgroup.own = false;
	rig_done(&r);
}

/* ── real groups ──────────────────────────────────────────────────────── */

/*
 * The body runs in a child: whatever becomes of it, the groups it made are
 * swept afterwards, and whatever was left is a failure of its own.
 */
static int leftovers(const struct as_env *env)
{
	as_auto_places struct as_cg_places p = {0};
	struct as_err err;
	char mine[32];
	int n = 0;

	(void)snprintf(mine, sizeof mine, "assay-t%d", getpid());
	EXPECT_OK(as_cg_where(env, 0, &p, &err), err);
	for (size_t i = 0; i < AS_CG_NPARTS; i++) {
		int fd = p.part[i].path
				 ? openat(env->cgroup, p.part[i].path, O_RDONLY | O_DIRECTORY)
				 : -1;
		as_auto_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);

		for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
			n += !strncmp(e->d_name, mine, strlen(mine));
	}
	return n;
}

static char run_id[24]; /* of the groups of this test */

/* Who makes a group removes what dead runs have left beside it. */
static void sweep(const struct as_env *env)
{
	struct as_cgroup cg;
	struct as_err err;
	char id[40];

	(void)snprintf(id, sizeof id, "%s.sweep%d", run_id, getpid());
	EXPECT_OK(as_cgroup_make(env, id, &cg, &err), err);
	as_cgroup_done(env, &cg);
}

static void guarded(void (*body)(void))
{
	struct rig r;
	int status = 0;

	rig_machine(&r);
	(void)snprintf(run_id, sizeof run_id, "t%d", getpid());
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)alarm(40);
		body();
		fflush(stdout);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	bool left = leftovers(&r.env) > 0;
	for (int i = 0; i < 50 && leftovers(&r.env); i++) { /* its children are dying */
		sweep(&r.env);
		(void)usleep(20000);
	}
	EXPECT(leftovers(&r.env) == 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		_exit(77);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		_exit(1);
	if (left)
		UTEST_FAIL("a control group was left behind");
	rig_done(&r);
}

/* A group of our own (that counts memory), or the test is skipped. No id is used twice. */
static void make_group(struct rig *r, bool memory)
{
	static int serial;
	struct as_err err;
	char id[40];

	rig_machine(r);
	(void)snprintf(id, sizeof id, "%s.%d", run_id, serial++);
	EXPECT_OK(as_cgroup_make(&r->env, id, &r->cgroup, &err), err);
	if (!r->cgroup.own || (r->cgroup.dir[AS_CG_CPUACCT] < 0 && r->cgroup.dir[AS_CG_V2] < 0))
		SKIP("no control group can be made here: %s", r->cgroup.why);
	if (memory && r->cgroup.dir[AS_CG_MEMORY] < 0 &&
	    (r->cgroup.dir[AS_CG_V2] < 0 ||
	     faccessat(r->cgroup.dir[AS_CG_V2], "memory.current", F_OK, 0) != 0))
		SKIP("no memory accounts for our groups here: %s", r->cgroup.why);
	r->c.cgroup = &r->cgroup;
	rig_start(r, &as_collect_cgroup);
}

struct job {
	pid_t pid;
	int in, out; /* to and from it */
};

/* Start `work` as a job in the group. It may write one int64_t, and waits when it reads. */
static struct job start_job(struct rig *r, void (*work)(int in, int out))
{
	int to[2], from[2];
	bool joined = false;

	EXPECT(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
	fflush(stdout);
	pid_t pid = as_cgroup_fork(&r->cgroup, &joined);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(to[1]);
		if (!joined)
			_exit(99);
		work(to[0], from[1]);
		_exit(0);
	}
	EXPECT(pid > 0);
	(void)close(to[0]);
	(void)close(from[1]);
	return (struct job){pid, to[1], from[0]};
}

static int64_t hear(const struct job *j)
{
	int64_t v = -1;

	if (read(j->out, &v, sizeof v) != sizeof v)
		UTEST_FAIL("the job said nothing");
	return v;
}

/* Let it go on, and end; its wait status. */
static int end_job(struct job *j)
{
	int status = -1;

	(void)close(j->in);
	EXPECT(waitpid(j->pid, &status, 0) == j->pid);
	(void)close(j->out);
	return status;
}

static void say(int out, int64_t v)
{
	if (write(out, &v, sizeof v) != sizeof v)
		_exit(98);
}

static void wait_for_end(int in)
{
	char c;

	(void)!read(in, &c, 1);
}

static void burn(int64_t cpu_ns)
{
	while (as_clock(CLOCK_PROCESS_CPUTIME_ID) < cpu_ns)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void burner(int in, int out)
{
	burn(600 * AS_MSEC);
	(void)in;
	say(out, as_clock(CLOCK_PROCESS_CPUTIME_ID));
}

static void real_cpu(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	make_group(&r, false);
	struct job j = start_job(&r, burner);
	int64_t truth = hear(&j);
	EXPECT_I64(end_job(&j), 0);
	rig_sample(&r);
	rig_finish(&r, t);
	EXPECT(t[AS_T_CPU].how == AS_MEASURED);
	EXPECT_NEAR((double)t[AS_T_CPU].value, (double)truth, 0.01 * (double)truth);
	EXPECT_I64(t[AS_T_CPU_USER].value + t[AS_T_CPU_SYSTEM].value, t[AS_T_CPU].value);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), t[AS_T_CPU].value);
	EXPECT(t[AS_T_CPU_USER].value > t[AS_T_CPU].value / 2); /* it was all user code */
	rig_done(&r);
}

static void t_real_cpu(void)
{
	guarded(real_cpu);
}

/* Forks that nobody waits for, and that are gone before any sample: all are counted. */
static void forker(int in, int out)
{
	int64_t sum = 0;
	int p[2];

	(void)in;
	(void)signal(SIGCHLD, SIG_IGN);
	if (pipe(p) < 0)
		_exit(97);
	for (int i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(5 * AS_MSEC);
			say(p[1], as_clock(CLOCK_PROCESS_CPUTIME_ID));
			_exit(0);
		}
		int64_t one = 0;
		if (pid < 0 || read(p[0], &one, sizeof one) != sizeof one)
			_exit(96);
		sum += one;
	}
	say(out, sum + as_clock(CLOCK_PROCESS_CPUTIME_ID));
}

static size_t members(const struct rig *r)
{
	int32_t pids[8];
	struct as_err err;
	size_t n = 0;

	EXPECT_OK(as_cgroup_pids(&r->cgroup, pids, AS_LEN(pids), &n, &err), err);
	return n;
}

static void wait_until_empty(const struct rig *r)
{
	while (members(r))
		(void)usleep(1000);
}

/* The jobs of these tests are children of this program, with the sanitizer's shadow and all. */
static void no_tsan(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
	SKIP("ThreadSanitizer's own memory and CPU time are in the job");
#endif
#endif
}

static void real_short_lived(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	make_group(&r, false);
	struct job j = start_job(&r, forker);
	int64_t truth = hear(&j);
	EXPECT_I64(end_job(&j), 0);
	wait_until_empty(&r); /* nobody waits for the last of them */
	rig_finish(&r, t);
	/* what a child costs before and after its own clock is the kernel's, and counted */
	EXPECT(t[AS_T_CPU].value >= truth * 99 / 100);
	EXPECT(t[AS_T_CPU].value <= truth * 115 / 100);
	rig_done(&r);
}

static void t_real_short_lived(void)
{
	no_tsan();
	guarded(real_short_lived);
}

static void *touch(size_t n, int flags, int fd)
{
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		_exit(95);
	return memset(p, 1, n);
}

static void allocator(int in, int out)
{
	int fd = memfd_create("shared", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 31 * MIB) < 0)
		_exit(94);
	(void)touch((size_t)(97 * MIB), MAP_PRIVATE | MAP_ANONYMOUS, -1);
	(void)touch((size_t)(31 * MIB), MAP_SHARED, fd);
	say(out, 0);
	wait_for_end(in);
}

static void real_memory(void)
{
	struct as_total t[AS_NTOTALS];
	double mib = (double)MIB;
	struct rig r;

	make_group(&r, true);
	struct job j = start_job(&r, allocator);
	(void)hear(&j);
	rig_sample(&r);
	EXPECT_NEAR((double)rig_cell(&r, AS_F_CG_ANON, 0), 97 * mib, 0.01 * 97 * mib);
	EXPECT_NEAR((double)rig_cell(&r, AS_F_CG_SHMEM, 0), 31 * mib, 0.01 * 31 * mib);
	EXPECT(rig_cell(&r, AS_F_CG_MEM, 0) >= 127 * MIB);
	EXPECT_I64(end_job(&j), 0);
	rig_sample(&r);
	EXPECT((double)rig_cell(&r, AS_F_CG_ANON, 0) < mib); /* it has gone */
	rig_finish(&r, t);
	if (t[AS_T_MEM_UPPER].how == AS_MEASURED)
		EXPECT_NEAR((double)t[AS_T_MEM_UPPER].value, 128 * mib, 0.03 * 128 * mib);
	rig_done(&r);
}

static void t_real_memory(void)
{
	no_tsan();
	guarded(real_memory);
}

static bool put(int dir, const char *file, const char *text)
{
	as_auto_fd int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static void glutton(int in, int out)
{
	(void)in;
	say(out, 0);
	(void)touch((size_t)(80 * MIB), MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void real_oom(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	make_group(&r, true);
	bool v1 = r.cgroup.dir[AS_CG_MEMORY] >= 0;
	int dir = r.cgroup.dir[v1 ? AS_CG_MEMORY : AS_CG_V2];
	if (!put(dir, v1 ? "memory.limit_in_bytes" : "memory.max", "33554432"))
		SKIP("no memory limit can be set here");
	(void)put(dir, v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
		  v1 ? "33554432" : "0");
	struct job j = start_job(&r, glutton);
	(void)hear(&j);
	int status = end_job(&j);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	rig_sample(&r);
	rig_finish(&r, t);
	EXPECT_I64(t[AS_T_OOM_KILLS].value, 1);
	EXPECT(t[AS_T_OOM_KILLS].how == AS_MEASURED);
	EXPECT_I64(rig_cell(&r, AS_F_CG_OOM, 0), 1);
	EXPECT_NEAR((double)t[AS_T_MEM_UPPER].value, 32 * (double)MIB, 0.02 * 32 * (double)MIB);
	rig_done(&r);
}

static void t_real_oom(void)
{
	guarded(real_oom);
}

/* Go into a group with a quota of 20 ms in 100 ms, as Docker or Slurm would have done. */
static void into_quota(const struct as_env *env)
{
	as_auto_places struct as_cg_places p = {0};
	struct as_err err;
	char path[600];

	EXPECT_OK(as_cg_where(env, 0, &p, &err), err);
	if (!p.part[AS_CG_CPU].path)
		SKIP("no v1 cpu hierarchy to set a quota in");
	(void)snprintf(path, sizeof path, "%s/assay-%s-quota", p.part[AS_CG_CPU].path, run_id);
	if (mkdirat(env->cgroup, path, 0755) < 0)
		SKIP("no group with a quota can be made here");
	as_auto_fd int dir = openat(env->cgroup, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)flock(dir, LOCK_SH); /* until we are in it, no sweeper may take it away */
	if (!put(dir, "cpu.cfs_period_us", "100000") || !put(dir, "cpu.cfs_quota_us", "20000")) {
		(void)unlinkat(env->cgroup, path, AT_REMOVEDIR);
		SKIP("no CPU quota can be set here");
	}
	EXPECT(put(dir, "cgroup.procs", "0"));
}

static void leave_quota(const struct as_env *env)
{
	as_auto_places struct as_cg_places p = {0};
	struct as_err err;

	EXPECT_OK(as_cg_where(env, 0, &p, &err), err);
	char *path = p.part[AS_CG_CPU].path, *inner = strdup(path);
	EXPECT(inner && as_cg_up(path, p.part[AS_CG_CPU].mount));
	as_auto_fd int dir = openat(env->cgroup, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	EXPECT(put(dir, "cgroup.procs", "0"));
	/* the kernel may take a moment to let the dead out; a sweeper may be quicker than we are */
	while (unlinkat(env->cgroup, inner, AT_REMOVEDIR) < 0 && errno == EBUSY)
		(void)usleep(1000);
	free(inner);
}

static void short_burner(int in, int out)
{
	int64_t start = as_now();

	(void)in;
	burn(200 * AS_MSEC);
	say(out, as_now() - start);
}

static void real_throttled(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	rig_machine(&r);
	into_quota(&r.env);
	rig_done(&r);
	make_group(&r, false);
	EXPECT_I64(r.cgroup.limits.cpu, 200000);
	EXPECT(r.cgroup.quota >= 0 && !r.cgroup.quota_own);
	struct job j = start_job(&r, short_burner);
	int64_t wall = hear(&j);
	EXPECT_I64(end_job(&j), 0);
	rig_sample(&r);
	rig_finish(&r, t);
	/*
	 * 200 ms of work at 20 ms a period: it is stopped some 70 ms in each of ten
	 * periods, less when it had to wait for a CPU first.
	 */
	EXPECT(t[AS_T_THROTTLED].value >= 20 * AS_MSEC);
	EXPECT(t[AS_T_THROTTLED].value <= wall);
	EXPECT(t[AS_T_THROTTLED].how == AS_ATTRIBUTED);
	EXPECT(rig_cell(&r, AS_F_CG_THROTTLES, 0) >= 2);
	EXPECT(rig_cell(&r, AS_F_CG_PERIODS, 0) >= rig_cell(&r, AS_F_CG_THROTTLES, 0));
	rig_stop(&r);
	as_cgroup_done(&r.env, &r.cgroup);
	leave_quota(&r.env);
	rig_done(&r);
}

static void t_real_throttled(void)
{
	guarded(real_throttled);
}

static void idler(int in, int out)
{
	say(out, getpid());
	wait_for_end(in);
}

static void expect_pids(const struct as_cgroup *cg, const struct job *j, size_t n)
{
	int32_t pids[8];
	struct as_err err;
	size_t got = 0;

	EXPECT_OK(as_cgroup_pids(cg, pids, AS_LEN(pids), &got, &err), err);
	EXPECT_U64(got, n);
	for (size_t i = 0; i < n; i++) {
		bool listed = false;

		for (size_t k = 0; k < got; k++)
			listed |= pids[k] == j[i].pid;
		EXPECT(listed);
	}
}

/* The list is of this moment, in v2 through a kept descriptor, in v1 through a new one. */
static void pids_come_and_go(struct rig *r)
{
	struct job j[3];

	for (size_t i = 0; i < 3; i++) {
		j[i] = start_job(r, idler);
		EXPECT_I64(hear(&j[i]), j[i].pid);
		expect_pids(&r->cgroup, j, i + 1);
	}
	for (size_t i = 3; i-- > 0;) {
		EXPECT_I64(end_job(&j[i]), 0);
		expect_pids(&r->cgroup, j, i);
	}
}

static void real_pids(void)
{
	struct rig r;

	make_group(&r, false);
	pids_come_and_go(&r);
	if (r.cgroup.procs >= 0 && r.cgroup.dir[AS_CG_CPUACCT] >= 0) {
		(void)close(r.cgroup.procs);
		r.cgroup.procs = -1;
		pids_come_and_go(&r); /* now by v1 */
	}
	rig_done(&r);
}

static void t_real_pids(void)
{
	guarded(real_pids);
}

/* The child is in the group in every hierarchy, by fork and by as_cgroup_join alike. */
static void expect_inside(struct rig *r, pid_t pid)
{
	as_auto_places struct as_cg_places p = {0};
	struct as_err err;

	EXPECT_OK(as_cg_where(&r->env, pid, &p, &err), err);
	for (size_t i = 0; i < AS_CG_NPARTS; i++)
		if (r->cgroup.made[i])
			EXPECT_STR(p.part[i].path, r->cgroup.path[i]);
}

static void real_join(void)
{
	struct rig r;

	make_group(&r, false);
	struct job j = start_job(&r, idler);
	(void)hear(&j);
	expect_inside(&r, j.pid);
	as_cgroup_verify(&r.env, &r.cgroup, j.pid); /* all is well: nothing is given up */
	EXPECT(r.cgroup.own);
	EXPECT_I64(end_job(&j), 0);
	int said[2];
	EXPECT(pipe(said) == 0);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		say(said[1], as_cgroup_join(&r.cgroup));
		(void)pause();
	}
	j.out = said[0];
	EXPECT_I64(hear(&j), true);
	expect_inside(&r, pid);
	(void)kill(pid, SIGKILL);
	EXPECT(waitpid(pid, NULL, 0) == pid);
	rig_done(&r);
}

static void t_real_join(void)
{
	guarded(real_join);
}

/* A job that was not let in: its groups are given up, and nothing claims to know 0. */
static void real_not_joined(void)
{
	struct as_total t[AS_NTOTALS];
	struct rig r;

	make_group(&r, false);
	as_cgroup_verify(&r.env, &r.cgroup, getpid());
	EXPECT(!r.cgroup.own);
	EXPECT(strstr(r.cgroup.why, "not let in") != NULL);
	rig_sample(&r);
	EXPECT_I64(rig_cell(&r, AS_F_CG_CPU, 0), AS_NA);
	EXPECT_I64(rig_cell(&r, AS_F_CG_MEM, 0), AS_NA);
	rig_finish(&r, t);
	EXPECT(t[AS_T_CPU].how == AS_UNAVAILABLE);
	EXPECT(t[AS_T_OOM_KILLS].how == AS_UNAVAILABLE);
	rig_done(&r);
}

static void t_real_not_joined(void)
{
	guarded(real_not_joined);
}

/* Groups of a dead assay go; those of a living one stay, and so do those with survivors. */
static void real_sweep(void)
{
	struct rig r, other;
	struct as_err err;
	char dead[40], path[700];
	struct stat st;

	make_group(&r, false);
	struct job j = start_job(&r, idler);
	(void)hear(&j);
	size_t part = r.cgroup.made[AS_CG_V2] ? AS_CG_V2 : AS_CG_CPUACCT;

	/* one that made its groups and was killed at once */
	(void)snprintf(dead, sizeof dead, "%s-dead", run_id);
	(void)snprintf(path, sizeof path, "%.600s", r.cgroup.path[part]);
	(void)snprintf(strrchr(path, '/'), 60, "/assay-%s", dead);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		rig_machine(&other);
		EXPECT_OK(as_cgroup_make(&other.env, dead, &other.cgroup, &err), err);
		(void)kill(getpid(), SIGKILL);
	}
	EXPECT(waitpid(pid, NULL, 0) == pid);
	EXPECT(fstatat(r.env.cgroup, path, &st, 0) == 0);
	sweep(&r.env);
	EXPECT(fstatat(r.env.cgroup, path, &st, 0) < 0);
	EXPECT(fstatat(r.env.cgroup, r.cgroup.path[part], &st, 0) == 0);

	/* alive but still empty: its lock protects it */
	EXPECT_I64(end_job(&j), 0);
	sweep(&r.env);
	EXPECT(fstatat(r.env.cgroup, r.cgroup.path[part], &st, 0) == 0);
	rig_done(&r);

	/* a survivor keeps its group until it ends */
	make_group(&r, false);
	j = start_job(&r, idler);
	(void)hear(&j);
	(void)snprintf(path, sizeof path, "%s", r.cgroup.path[part]);
	rig_stop(&r);
	as_cgroup_done(&r.env, &r.cgroup);
	EXPECT(fstatat(r.env.cgroup, path, &st, 0) == 0);
	sweep(&r.env);
	EXPECT(fstatat(r.env.cgroup, path, &st, 0) == 0);
	EXPECT_I64(end_job(&j), 0);
	sweep(&r.env);
	EXPECT(fstatat(r.env.cgroup, path, &st, 0) < 0);
	rig_done(&r);
}

static void t_real_sweep(void)
{
	guarded(real_sweep);
}

/* Many at once, each sweeping what the others are just making: all get their groups. */
static void real_crowd(void)
{
	enum { CROWD = 8, ROUNDS = 25 };
	pid_t pids[CROWD];

	for (int i = 0; i < CROWD; i++) {
		fflush(stdout);
		pids[i] = fork();
		if (pids[i])
			continue;
		(void)snprintf(run_id + strlen(run_id), 8, "-%d", i);
		for (int k = 0; k < ROUNDS; k++) {
			struct rig r;

			make_group(&r, false);
			sweep(&r.env);
			struct job j = start_job(&r, idler);
			(void)hear(&j);
			EXPECT_I64(end_job(&j), 0);
			rig_done(&r);
		}
		_exit(0);
	}
	for (int i = 0; i < CROWD; i++) {
		int status = -1;

		EXPECT(waitpid(pids[i], &status, 0) == pids[i]);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			_exit(77);
		EXPECT_I64(status, 0);
	}
}

static void t_real_crowd(void)
{
	guarded(real_crowd);
}

/* What one sample costs. The figure is printed; only an order of magnitude is an error. */
static void real_cost(void)
{
	enum { SAMPLES = 10000 };
	struct rig r;

	make_group(&r, true);
	struct job j = start_job(&r, idler);
	(void)hear(&j);
	int64_t start = as_clock(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < SAMPLES; i++)
		rig_sample(&r);
	double us = (double)(as_clock(CLOCK_THREAD_CPUTIME_ID) - start) / 1e3 / SAMPLES;
	printf("# one cgroup sample: %.1f us of CPU time\n", us);
	EXPECT_I64(end_job(&j), 0);
	EXPECT(us < 200);
	rig_done(&r);
}

static void t_real_cost(void)
{
	guarded(real_cost);
}

UTEST_MAIN(T(t_group_lines), T(t_mount_lines), T(t_unescape), T(t_below), T(t_numbers), T(t_io),
	   T(t_every_prefix), T(t_places_subtree), T(t_places_elsewhere), T(t_places_twice),
	   T(t_of_fixtures), T(t_of_container), T(t_limits), T(t_pids_of_fixture),
	   T(t_make_in_fixture), T(t_v2_gauges), T(t_cache_below_shared), T(t_v2_counters),
	   T(t_v2_own_quota), T(t_v1), T(t_hybrid), T(t_container), T(t_no_group), T(t_reasons),
	   T(t_only_what_is_wanted), T(t_totals_of_shared_group), T(t_totals_add_up), T(t_real_cpu),
	   T(t_real_short_lived), T(t_real_memory), T(t_real_oom), T(t_real_throttled),
	   T(t_real_pids), T(t_real_join), T(t_real_not_joined), T(t_real_sweep), T(t_real_crowd),
	   T(t_real_cost))
