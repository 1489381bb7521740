#pragma once
/*
 * sample -- which allocations are recorded when not all are, and which frees
 * belong to them.
 *
 * A byte in `rate` is picked at random, each as likely as another: the distance
 * to the next is exponential, and a thread counts it down. An allocation of at
 * least `rate` bytes is always recorded and does not count, so what a size
 * stands for is known exactly (heap/event.h, as_heap_weight()).
 *
 * A free is looked up in a small array of counters first, by its address: a
 * zero there says that it was not sampled, at the price of one load.
 */
#include "preload/guest.h"

bool as_sample_begin(void);
void as_sample_end(void); /* its memory is given back, and is still there */
/* It did not pass: is it to be recorded? */
bool as_sample_due(struct as_guest_thread *t, size_t size);
bool as_sample_had_slowly(const void *address);

/* It is recorded, its free will be; false: there are too many, which is counted as lost. */
bool as_sample_keep(const void *address);

static inline uint32_t as_sample_hash(const void *address)
{
	return (uint32_t)(((uintptr_t)address * 0x9e3779b97f4a7c15ull) >> 32);
}

/*
 * Does the next sample come after an allocation of so many bytes? When not, and
 * when that cannot be said at once, ask as_sample_due().
 */
static inline bool as_sample_passes(struct as_guest_thread *t, size_t size)
{
	uint64_t rate = atomic_load_explicit(&as_guest.session->rate, memory_order_relaxed);

	if (__builtin_expect(rate != t->drawn || size >= rate, 0))
		return false;
	t->countdown -= (int64_t)size;
	return t->countdown > 0;
}

/* False: it surely was not recorded. */
static inline bool as_sample_may_have(const void *address)
{
	uint32_t at = as_sample_hash(address) % AS_SAMPLE_FILTER;

	return atomic_load_explicit(&as_guest.filter[at], memory_order_relaxed);
}

/* Whether its allocation was recorded; it is forgotten. */
static inline bool as_sample_had(const void *address)
{
	return as_sample_may_have(address) && as_sample_had_slowly(address);
}
