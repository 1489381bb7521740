/* climb -- the largest amount that a server with a known limit keeps to, and an end in any case. */
#include "utest.h"

#include <math.h>

#include "load/climb.h"

enum { ENOUGH = 100 };

/* What a server does that fails above `limit`, and when held above `lasting`. */
static unsigned climb(struct as_climb *c, double limit, double lasting)
{
	unsigned probes = 0;

	as_climb_begin(c);
	while (c->phase != AS_CLIMB_OVER && probes < ENOUGH) {
		double most = c->phase == AS_CLIMB_HOLD ? lasting : limit;

		probes++;
		as_climb_tell(c, c->amount <= most ? AS_CLIMB_KEEPS : AS_CLIMB_MISSES);
	}
	EXPECT(probes < ENOUGH);
	return probes;
}

static void t_found(void)
{
	for (double limit = 1; limit < 1e6; limit *= 1.37) {
		struct as_climb c = {.from = 50, .most = 1e7, .precision = 0.02};
		unsigned n = climb(&c, limit, limit);

		EXPECT_I64(c.end, AS_CLIMB_HELD);
		EXPECT(as_climb_answer(&c) <= limit && as_climb_answer(&c) >= limit * 0.98);
		EXPECT(n < 30);
	}
}

static void t_whole_numbers(void)
{
	for (double limit = 1; limit < 300; limit++) {
		struct as_climb c = {.from = 1, .most = 60000, .precision = 0.001, .whole = true};

		climb(&c, limit, limit);
		EXPECT(as_climb_answer(&c) >= limit && as_climb_answer(&c) <= limit);
	}
}

static void t_nothing_keeps_to_it(void)
{
	struct as_climb c = {.from = 50, .most = 1e6, .precision = 0.02};

	climb(&c, 0, 0);
	EXPECT_I64(c.end, AS_CLIMB_NONE);
	EXPECT(isnan(as_climb_answer(&c)));
	c = (struct as_climb){.from = 50, .most = 1e6, .precision = 0.02, .least = 10};
	EXPECT_U64(climb(&c, 0, 0), 3); /* 50, 25, 12.5 */
	EXPECT_I64(c.end, AS_CLIMB_NONE);
	c = (struct as_climb){.from = 1, .most = 1e6, .precision = 0.02, .whole = true};
	EXPECT_U64(climb(&c, 0, 0), 1);
	EXPECT_I64(c.end, AS_CLIMB_NONE);
}

static void t_everything_does(void)
{
	struct as_climb c = {.from = 50, .most = 1000, .precision = 0.02};

	climb(&c, 1e9, 1e9);
	EXPECT_I64(c.end, AS_CLIMB_TOP);
	EXPECT(as_climb_answer(&c) >= 1000);
}

static void t_what_cannot_be_held_is_stepped_down(void)
{
	struct as_climb c = {.from = 50, .most = 1e6, .precision = 0.02};

	climb(&c, 1000, 900);
	EXPECT_I64(c.end, AS_CLIMB_HELD);
	EXPECT(as_climb_answer(&c) <= 900 && as_climb_answer(&c) > 860);
	climb(&c, 1000, 0);
	EXPECT_I64(c.end, AS_CLIMB_UNHELD);
}

static void t_invalid_ends_it(void)
{
	struct as_climb c = {.from = 50, .most = 1e6, .precision = 0.02};

	as_climb_begin(&c);
	as_climb_tell(&c, AS_CLIMB_KEEPS);
	as_climb_tell(&c, AS_CLIMB_VOID);
	EXPECT(c.phase == AS_CLIMB_OVER && c.end == AS_CLIMB_INVALID);
	EXPECT(as_climb_answer(&c) >= 50);
}

UTEST_MAIN(T(t_found), T(t_whole_numbers), T(t_nothing_keeps_to_it), T(t_everything_does),
	   T(t_what_cannot_be_held_is_stepped_down), T(t_invalid_ends_it))
