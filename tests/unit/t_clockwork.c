/* clockwork -- dense at first, then on a grid that does not drift. */
#include "utest.h"

#include "engine/clockwork.h"

#define MS INT64_C(1000000)

static void t_dense_then_even(void)
{
	struct as_clockwork c;
	int n = 0;

	as_clockwork_start(&c, 500 * MS);
	EXPECT_I64(c.due_ns, 10 * MS);
	for (; c.due_ns < 1000 * MS; n++)
		as_clockwork_tick(&c, c.due_ns);
	EXPECT_I64(n, 10 + 17); /* 10 … 100 by tens, 150 … 950 by fifties */
	as_clockwork_tick(&c, c.due_ns);
	EXPECT_I64(c.due_ns, 1500 * MS);
	EXPECT_U64(c.late, 0);
}

/* A sample that comes late is counted, and the next is back on the grid. */
static void t_late(void)
{
	struct as_clockwork c;

	as_clockwork_start(&c, 500 * MS);
	c.due_ns = 5000 * MS;
	as_clockwork_tick(&c, 5300 * MS);
	EXPECT_U64(c.late, 1);
	EXPECT_I64(c.due_ns, 5500 * MS);
	as_clockwork_tick(&c, 9600 * MS); /* a suspend: the missed ones are not made up */
	EXPECT_U64(c.late, 2);
	EXPECT_I64(c.due_ns, 10000 * MS);
}

static void t_finer_than_dense(void)
{
	struct as_clockwork c;

	as_clockwork_start(&c, 5 * MS);
	EXPECT_I64(c.due_ns, 5 * MS);
	as_clockwork_tick(&c, 5 * MS);
	EXPECT_I64(c.due_ns, 10 * MS);
}

UTEST_MAIN(T(t_dense_then_even), T(t_late), T(t_finer_than_dense))
