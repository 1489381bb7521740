#include "stack/ring.h"

#include "utest.h"

/* Steps until a list of `tail` places that ends in a ring of `round` is seen through. */
static size_t steps(size_t tail, size_t round)
{
	struct as_ring r = {0};
	size_t at = 0, n = 0;

	for (; !as_ring_closed(&r, 4096 + at * 8); n++) {
		at = at + 1 < tail + round ? at + 1 : tail;
		if (n > 100000)
			UTEST_FAIL("a ring of %zu after %zu was not seen", round, tail);
	}
	return n;
}

static void t_every_ring_is_seen(void)
{
	for (size_t tail = 0; tail < 40; tail++)
		for (size_t round = 1; round < 40; round++)
			EXPECT(steps(tail, round) <= 3 * (tail + round) + 1);
}

static void t_a_list_that_ends_is_none(void)
{
	struct as_ring r = {0};

	for (uint64_t at = 8; at < 100000; at += 8)
		EXPECT(!as_ring_closed(&r, at));
}

UTEST_MAIN(T(t_every_ring_is_seen), T(t_a_list_that_ends_is_none))
