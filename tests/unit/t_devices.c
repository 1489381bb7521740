/* devices -- /proc/diskstats: whole devices that did something, counters from 0. */
#include "rig.h"

#include <sys/stat.h>

#include "os/machine.h"

extern const struct as_collector as_collect_devices;

#define VDA(reads, sectors, busy)                                                                  \
	" 254       0 vda " #reads " 3 " #sectors " 17 20 5 64 9 0 " #busy " 40 0 0 0 0\n"
#define VDA1 " 254       1 vda1 90 0 720 1 20 5 64 9 0 10 10 0 0 0 0\n"
#define LOOP "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static void t_parse(void)
{
	static const char text[] = VDA(100, 800, 30);
	struct as_disk_stat d;
	size_t n = sizeof text - 1;

	EXPECT_U64(as_parse_disk(utest_edge(text, n), n, &d), n);
	EXPECT_STR(d.name, "vda");
	EXPECT_I64(d.reads, 100);
	EXPECT_I64(d.read_bytes, 800 * 512);
	EXPECT_I64(d.writes, 20);
	EXPECT_I64(d.write_bytes, 64 * 512);
	EXPECT_I64(d.busy_ns, INT64_C(30000000));
	for (size_t i = 0; i < n; i++)
		EXPECT_U64(as_parse_disk(utest_edge(text, i), i, &d), 0);
}

static void t_parse_bad(void)
{
	static const char *const bad[] = {
		"",
		"\n",
		"254 0\n",
		"254 0 vda\n",
		"254 0 vda 1 2 3 4 5 6 7 8 9\n",
		"254 0 a-name-that-no-device-of-this-world-has 1 2 3 4 5 6 7 8 9 10\n"};
	struct as_disk_stat d;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		EXPECT_U64(as_parse_disk(bad[i], strlen(bad[i]), &d), 0);
}

static void partition(const struct rig *r, const char *name)
{
	char path[400];
	static const char *const parts[] = {"sys", "sys/class", "sys/class/block"};

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", r->root, parts[i]);
		(void)mkdir(path, 0755);
	}
	(void)snprintf(path, sizeof path, "%s/sys/class/block/%s", r->root, name);
	EXPECT(mkdir(path, 0755) == 0);
	char file[64];
	(void)snprintf(file, sizeof file, "sys/class/block/%.20s/partition", name);
	rig_write(r, file, "1\n");
}

static void t_sample(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	partition(&r, "vda1");
	rig_write(&r, "proc/diskstats", LOOP VDA(100, 800, 30) VDA1);
	rig_start(&r, &as_collect_devices);
	rig_sample(&r);
	EXPECT_U64(r.ninstances, 0);
	rig_write(&r, "proc/diskstats", LOOP VDA(107, 856, 42) VDA1);
	rig_sample(&r);
	EXPECT_U64(r.ninstances, 1);
	EXPECT_STR(r.instances[0].name, "vda");
	EXPECT_I64(rig_cell(&r, AS_F_DEV_READS, r.instances[0].id), 7);
	EXPECT_I64(rig_cell(&r, AS_F_DEV_READ, r.instances[0].id), 56 * 512);
	EXPECT_I64(rig_cell(&r, AS_F_DEV_WRITES, r.instances[0].id), 0);
	EXPECT_I64(rig_cell(&r, AS_F_DEV_BUSY, r.instances[0].id), INT64_C(12000000));
	rig_expect_origin(&r, AS_F_DEV_READ, AS_MEASURED, "/proc/diskstats");
	rig_done(&r);
}

static void t_missing(void)
{
	struct rig r;

	rig_fixture(&r, "v2");
	rig_start(&r, &as_collect_devices);
	rig_sample(&r);
	EXPECT_U64(r.frame.n, 0);
	EXPECT(r.told[AS_F_DEV_READ] && r.origins[AS_F_DEV_READ].how == AS_UNAVAILABLE);
	rig_done(&r);
}

UTEST_MAIN(T(t_parse), T(t_parse_bad), T(t_sample), T(t_missing))
