#include "stack/cstacks.h"

#include <stdlib.h>

#include "base/fault.h"

/* No stack is larger; what is farther from its top is something else. */
static const uint64_t largest = UINT64_C(1) << 30;

void as_cstacks_done(struct as_cstacks *c)
{
	free(c->at);
	*c = (struct as_cstacks){0};
}

bool as_cstacks_add(struct as_cstacks *c, uint64_t top, pid_t tid)
{
	if (!as_grow(&c->at, &c->cap, c->n, sizeof *c->at, 16))
		return false;
	c->at[c->n++] = (struct as_cstack){top, tid};
	return true;
}

static int by_top(const void *a, const void *b)
{
	const struct as_cstack *x = a, *y = b;

	return (x->top > y->top) - (x->top < y->top);
}

void as_cstacks_settle(struct as_cstacks *c)
{
	if (c->n)
		qsort(c->at, c->n, sizeof *c->at, by_top);
}

pid_t as_cstacks_of(const struct as_cstacks *c, uint64_t address, pid_t main_tid)
{
	size_t from = 0, to = c->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (c->at[middle].top > address)
			to = middle;
		else
			from = middle + 1;
	}
	if (from == c->n)
		return main_tid;
	return c->at[from].top - address < largest ? c->at[from].tid : 0;
}
