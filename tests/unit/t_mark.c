/* mark -- what a group's high-water mark proves of the moments between two samples. */
#include "collect/mark.h"

#include <fcntl.h>

#include "utest.h"

#define MIB INT64_C(1048576)

static char path[300];

static void set_file(int64_t mib)
{
	FILE *f = fopen(path, "w");

	EXPECT(f && fprintf(f, "%" PRId64 "\n", mib * MIB) > 0 && fclose(f) == 0);
}

/* A folder with the mark of a v1 or a v2 group in it. */
static struct as_cgroup group(bool v2)
{
	struct as_cgroup cg = {.own = true};

	for (size_t i = 0; i < AS_CG_NPARTS; i++)
		cg.dir[i] = -1;
	(void)snprintf(path, sizeof path, "%s/%s", utest_dir(),
		       v2 ? "memory.peak" : "memory.max_usage_in_bytes");
	set_file(0);
	cg.dir[v2 ? AS_CG_V2 : AS_CG_MEMORY] = open(utest_dir(), O_PATH | O_DIRECTORY);
	return cg;
}

/* One sample: the mark, all that is charged, what of it is need, bytes moved so far; in MiB. */
static void look(struct as_mark *m, int64_t mark, int64_t usage, int64_t need, int64_t io)
{
	set_file(mark);
	as_mark_take(m);
	as_mark_weigh(m, usage * MIB, need * MIB, io < 0 ? AS_NA : io * MIB);
}

static void t_spike(void)
{
	struct as_cgroup cg = group(false);
	struct as_mark m;

	as_mark_open(&m, &cg);
	look(&m, 0, 0, 0, 0);
	look(&m, 52, 52, 50, 1);
	look(&m, 452, 52, 50, 1);
	EXPECT_I64(m.need, 50 * MIB); /* 52 less what stands beside it before and after */
	look(&m, 52, 52, 50, 1);      /* it was set back: the next interval has its own */
	EXPECT_I64(m.need, 450 * MIB);
	look(&m, 52, 52, 50, 1);
	as_mark_end(&m);
	EXPECT_I64(m.need, 450 * MIB);
	EXPECT_I64(m.top, 452 * MIB);
	as_mark_close(&m);
}

/* One sample at the end is all there is. */
static void t_at_once(void)
{
	struct as_cgroup cg = group(false);
	struct as_mark m;

	as_mark_open(&m, &cg);
	look(&m, 402, 1, 0, 1);
	as_mark_end(&m);
	EXPECT_I64(m.need, 401 * MIB);
	as_mark_close(&m);
}

static void t_page_cache(void)
{
	struct as_cgroup cg = group(false);
	struct as_mark m;

	as_mark_open(&m, &cg);
	look(&m, 303, 303, 1, 300); /* a file of 300 was written and is in the cache */
	look(&m, 603, 3, 1, 600);   /* another, and both were deleted before the sample */
	EXPECT_I64(m.need, 3 * MIB);
	look(&m, 103, 3, 1, 620); /* a spike of 100 with 20 moved at the same time */
	EXPECT_I64(m.need, 3 * MIB);
	as_mark_end(&m);
	EXPECT_I64(m.need, 81 * MIB);
	EXPECT_I64(m.top, 603 * MIB);
	as_mark_close(&m);
}

/* The kernel's own memory stays beside the need; what is just being freed does not. */
static void t_beside(void)
{
	struct as_cgroup cg = group(false);
	struct as_mark m;

	as_mark_open(&m, &cg);
	look(&m, 60, 60, 10, 0); /* 50 of a million new files' names */
	look(&m, 60, 60, 10, 0);
	EXPECT_I64(m.need, 10 * MIB);
	look(&m, 160, 150, 60, 0); /* 50 of 100 are freed, but not yet given back */
	look(&m, 60, 50, 0, 0);
	EXPECT_I64(m.need, 110 * MIB);
	as_mark_close(&m);
}

static void t_unknown(void)
{
	struct as_cgroup cg = group(false);
	struct as_mark m;

	as_mark_open(&m, &cg);
	look(&m, 0, 0, 0, -1); /* bytes moved: not asked for */
	look(&m, 400, 3, 1, -1);
	look(&m, 400, 3, 1, 5); /* since when? */
	as_mark_end(&m);
	EXPECT_I64(m.need, AS_NA);
	look(&m, 400, 3, 1, 5);
	as_mark_end(&m);
	EXPECT_I64(m.need, 398 * MIB);
	as_mark_close(&m);
	cg.own = false;
	as_mark_open(&m, &cg);
	look(&m, 400, 3, 1, 5);
	look(&m, 400, 3, 1, 5);
	as_mark_end(&m);
	EXPECT_I64(m.need, AS_NA);
	EXPECT_I64(m.top, AS_NA);
	as_mark_close(&m);
}

/* A mark that cannot be set back (v2 before Linux 6.12) tells of an interval when it rises. */
static void t_without_reset(void)
{
	struct as_cgroup cg = group(true);
	struct as_mark m;

	as_mark_open(&m, &cg);
	m.resets = false;
	look(&m, 10, 10, 8, 0);
	look(&m, 300, 10, 8, 0);
	look(&m, 300, 103, 8, 100);
	EXPECT_I64(m.need, 298 * MIB);
	look(&m, 300, 8, 8, 100); /* not new: nothing stands beside it now, but did then */
	as_mark_end(&m);
	EXPECT_I64(m.need, 298 * MIB);
	look(&m, 310, 8, 8, 100);
	as_mark_end(&m);
	EXPECT_I64(m.need, 310 * MIB);
	as_mark_close(&m);
}

UTEST_MAIN(T(t_spike), T(t_at_once), T(t_page_cache), T(t_beside), T(t_unknown), T(t_without_reset))
