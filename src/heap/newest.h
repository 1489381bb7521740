#pragma once
/*
 * newest -- which allocations of a thread were its last ones.
 *
 * How many others a thread made between an allocation and its release is asked
 * only up to a threshold: its last few ordinals answer that, in order as they
 * are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_NEWEST_MOST = 1 << 16 }; /* a larger threshold is refused */

struct as_newest {
	struct as_newest_thread {
		uint64_t *ordinal; /* a ring of `size` */
		uint64_t n;        /* allocations so far */
	} * thread;
	size_t n;
	uint64_t size; /* a power of 2 above the threshold */
};

bool as_newest_init(struct as_newest *r, size_t threads, uint64_t threshold);
void as_newest_done(struct as_newest *r);
/* False for want of memory. */
bool as_newest_made(struct as_newest *r, uint32_t thread, uint64_t ordinal);
/* Allocations of the thread since that one; UINT64_MAX: more than the threshold. */
uint64_t as_newest_since(const struct as_newest *r, uint32_t thread, uint64_t ordinal);
