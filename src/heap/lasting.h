#pragma once
/*
 * lasting -- in which slices of time allocations were made and freed.
 *
 * So it is known of any span of slices what was made within it and not freed by its
 * end. Those of a kind that were made in one slice and freed in another are one
 * entry. What was freed in the slice that it was made in is in no span.
 *
 * When an allocation was made is known by its ordinal: they grow with time.
 */
#include "base/index.h"
#include "heap/tracker.h"

#define AS_LASTING_NEVER UINT32_MAX /* it was not freed */

struct as_lasting_entry {
	uint32_t kind, made, until; /* slices, from 0 */
	int64_t count, bytes;       /* count in units of 1/AS_HEAP_ONE */
};

struct as_lasting {                  /* of one process; all zeros is the beginning */
	struct as_lasting_entry *at; /* those without a byte and a count are over */
	size_t n, cap;
	struct as_index by_key;
	uint64_t *first; /* of each slice: the ordinal of the next allocation when it began */
	size_t slices, first_cap;
};

/* The next slice begins, with that ordinal. False for want of memory. */
bool as_lasting_slice(struct as_lasting *l, uint64_t ordinal);
/* In the last of them, of a kind of that size. False for want of memory. */
bool as_lasting_event(struct as_lasting *l, const struct as_heap_event *e, uint64_t size);
void as_lasting_done(struct as_lasting *l);
