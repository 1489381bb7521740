#pragma once
/*
 * ranges -- the mappings of a process: which allocation each part of them is of.
 *
 * A mapping may be given back in parts, be split by that, and be mapped over.
 * The pieces are an array in order of address: a process seldom has more than
 * some hundred, and may not have more than 65,530.
 */
#include "heap/live.h"

struct as_ranges {
	struct as_ranges_piece {
		uint64_t start, end;
		uint32_t owner;
	} * piece;
	struct as_ranges_owner {
		struct as_live_entry who;
		uint32_t pieces; /* 0: free                         */
		uint32_t next;   /* a free one: the next of them + 1 */
	} * owner;
	size_t n, cap, nowners, owner_cap;
	uint32_t free; /* the first free owner + 1 */
};

/* So many bytes of it are no more; `last`: and nothing of it is left. */
typedef void as_ranges_fn(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last);

/* Both are false for want of memory, and then nothing has changed. */
bool as_ranges_map(struct as_ranges *r, const struct as_live_entry *who, uint64_t start,
		   uint64_t end);
bool as_ranges_unmap(struct as_ranges *r, uint64_t start, uint64_t end, as_ranges_fn *fn,
		     void *arg);
/* The first part of it that is mapped; false: none is. */
bool as_ranges_first(const struct as_ranges *r, uint64_t start, uint64_t end,
		     struct as_ranges_piece *ret);
void as_ranges_done(struct as_ranges *r);
