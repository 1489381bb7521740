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
/* Whether it is recorded; its free will be then. */
bool as_sample_wants(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size);
bool as_sample_had_slowly(const void *address);

/* It lives, its free will be told; false: there are too many, which is counted as lost. */
bool as_sample_keep(const void *address);

static inline uint32_t as_sample_hash(const void *address)
{
	return (uint32_t)(((uintptr_t)address * 0x9e3779b97f4a7c15ull) >> 32);
}

/* Whether its allocation was recorded; it is forgotten. */
static inline bool as_sample_had(const void *address)
{
	uint32_t at = as_sample_hash(address) % AS_SAMPLE_FILTER;

	return atomic_load_explicit(&as_guest.filter[at], memory_order_relaxed) &&
	       as_sample_had_slowly(address);
}
