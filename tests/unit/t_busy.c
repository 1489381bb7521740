/* busy -- spans of a run in which its job used the CPU, and those in which it did not. */
#include "run/busy.h"

#include "base/clock.h"
#include "run/builder.h"
#include "utest.h"

/* Two seconds idle, two busy, then half a second of which nothing is known. */
static struct as_run *example(void)
{
	struct as_builder *b = NULL;
	struct as_identity who = {.id = "busybusybusy"};
	struct as_frame f = {0};
	struct as_err err;
	int64_t cpu = 0;

	EXPECT_OK(as_builder_new(&b, &err), err);
	struct as_sink sink = as_builder_sink(b);
	EXPECT_OK(sink.ops->begin(sink.state, &who, &err), err);
	for (int i = 0; i <= 8; i++) {
		as_frame_start(&f, i * AS_SECOND / 2);
		cpu += i > 4 ? AS_SECOND / 2 : 0;
		as_row_set(as_frame_row(&f, AS_JOB, 0), AS_F_JOB_CPU, cpu);
		as_frame_settle(&f);
		EXPECT_OK(sink.ops->frame(sink.state, &f, &err), err);
	}
	as_frame_done(&f);
	return as_builder_take(b);
}

static void t_idle_and_busy(void)
{
	as_auto_run struct as_run *run = example();

	EXPECT(!as_run_busy(run, 0, AS_SECOND));
	EXPECT(!as_run_busy(run, AS_SECOND, 2 * AS_SECOND));
	EXPECT(as_run_busy(run, 2 * AS_SECOND, 3 * AS_SECOND));
	EXPECT(as_run_busy(run, 3 * AS_SECOND, 4 * AS_SECOND));
	EXPECT(as_run_busy(run, AS_SECOND, 3 * AS_SECOND));
}

static void t_unknown_is_not_idle(void)
{
	as_auto_run struct as_run *run = example();
	struct as_run empty = {0};

	EXPECT(as_run_busy(run, 4 * AS_SECOND, 5 * AS_SECOND));
	EXPECT(as_run_busy(&empty, 0, AS_SECOND));
}

UTEST_MAIN(T(t_idle_and_busy), T(t_unknown_is_not_idle))
