#pragma once
/*
 * ring -- notices that a list in somebody else's memory comes back to where it
 * was: torn, or made so on purpose.
 *
 * It remembers where it was after 1, 2, 4, 8 … steps, so it needs no memory,
 * and has gone around three times at the most before it tells.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_ring {
	uint64_t mark;
	size_t steps;
};

/* Call it with each place of the list, never 0. True: it has been there before. */
static inline bool as_ring_closed(struct as_ring *r, uint64_t at)
{
	if (at == r->mark)
		return true;
	if (!(r->steps & (r->steps - 1)))
		r->mark = at;
	r->steps++;
	return false;
}
