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
 *
 * Those that live are in a table, whose size is fixed. When it is half full the
 * rate is doubled, and each that is in it is thinned: at the rate r one of s bytes
 * was picked with the chance
 *
 *	p(s, r) = 1 - e^(-s/r), or 1 when s >= r,
 *
 * and it stays with q = p(s, 2r) / p(s, r). So it is there with the chance p(s, 2r),
 * as if it had been sampled at 2r; with x = s/2r that is
 *
 *	q = 1 / (1 + e^-x) when s < r, 1 - e^-x when r <= s < 2r, else 1.
 *
 * The collector is told of each: one that stays stands for 1/p(s, 2r) from then on,
 * one that goes for nothing, and for neither has anything been made or freed. What
 * lives is expected to be as much as before (w/q with the chance q, 0 otherwise),
 * whatever was drawn up to then and whenever it is done: estimates of what lives,
 * and of what is freed of it, stay unbiased, and their variance is that of 2r. What
 * was made keeps the weight that it was made with. Each sample carries its rate, so
 * there is no moment at which all of this must have been done: who adds a sample
 * thins a few slots, and nobody waits.
 */
#include "preload/guest.h"

bool as_sample_begin(void);
void as_sample_end(void); /* its memory is given back, and is still there */
/* It did not pass: is it to be recorded? */
bool as_sample_due(struct as_guest_thread *t, size_t size);
bool as_sample_had_slowly(struct as_guest_thread *t, const void *address);

/* It is recorded, at t->drawn, and its free will be. Nobody else has the address yet. */
void as_sample_keep(struct as_guest_thread *t, const void *address, size_t size);
/* What as_sample_had() has just forgotten was not freed after all. */
void as_sample_keep_on(struct as_guest_thread *t);

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
static inline bool as_sample_had(struct as_guest_thread *t, const void *address)
{
	return as_sample_may_have(address) && as_sample_had_slowly(t, address);
}
