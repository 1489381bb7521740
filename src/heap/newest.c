#include "heap/newest.h"

#include "base/fault.h"

bool as_newest_init(struct as_newest *r, size_t threads, uint64_t threshold)
{
	*r = (struct as_newest){.n = threads, .size = 1};
	while (r->size <= threshold)
		r->size *= 2;
	r->thread = as_zalloc_n(threads, sizeof *r->thread);
	return r->thread;
}

void as_newest_done(struct as_newest *r)
{
	for (size_t i = 0; r->thread && i < r->n; i++)
		free(r->thread[i].ordinal);
	free(r->thread);
	*r = (struct as_newest){0};
}

bool as_newest_made(struct as_newest *r, uint32_t thread, uint64_t ordinal)
{
	struct as_newest_thread *t = &r->thread[thread];

	if (!t->ordinal)
		t->ordinal = as_zalloc_n(r->size, sizeof *t->ordinal);
	if (!t->ordinal)
		return false;
	t->ordinal[t->n++ & (r->size - 1)] = ordinal;
	return true;
}

uint64_t as_newest_since(const struct as_newest *r, uint32_t thread, uint64_t ordinal)
{
	const struct as_newest_thread *t = &r->thread[thread];
	uint64_t low = t->n > r->size ? t->n - r->size : 0, high = t->n;

	/* The first that is not before it: ordinals only grow. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (t->ordinal[middle & (r->size - 1)] < ordinal)
			low = middle + 1;
		else
			high = middle;
	}
	bool there = low < t->n && t->ordinal[low & (r->size - 1)] == ordinal;
	return there ? t->n - 1 - low : UINT64_MAX;
}
