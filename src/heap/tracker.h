#pragma once
/*
 * tracker -- sums of one process's events, with its exact peak, one at a time.
 *
 * The peak is known online: each kind has what it held at the last peak and
 * what has changed since, and is brought up to date only when it is touched
 * after a newer peak (a counter says so). An event costs the same whatever
 * there is.
 */
#include "base/err.h"
#include "heap/event.h"

enum { AS_HEAP_SIZES = 64 }; /* bucket of a size: bits that it takes */

struct as_heap_amount {
	int64_t count, bytes;
};

/* What all allocations of one kind came to. Sampled: estimates, rounded when they are read. */
struct as_heap_sums {
	struct as_heap_amount made, peak, left, temporary;
	double variance_made, variance_peak, variance_left, variance_temporary; /* of bytes */
};

struct as_tracker; /* one process */

/* temporary: freed before its thread has made more than so many other allocations. */
struct as_tracker *as_tracker_new(uint64_t temporary, struct as_err *err);
void as_tracker_free(struct as_tracker *t);
/* False for want of memory: the sums are no longer true. */
bool as_tracker_kind(struct as_tracker *t, uint32_t kind, const struct as_heap_kind *k);
bool as_tracker_event(struct as_tracker *t, const struct as_heap_event *e);

struct as_heap_totals {
	struct as_heap_amount made, freed, left, peak;
	int64_t peak_ns;              /* when it had most; as_heap_event.ns         */
	int64_t sizes[AS_HEAP_SIZES]; /* allocations by size                      */
};

void as_tracker_totals(const struct as_tracker *t, struct as_heap_totals *ret);
size_t as_tracker_kinds(const struct as_tracker *t);
/* Sums of a kind, as of now; `peak` is of the highest moment so far. */
void as_tracker_sums(const struct as_tracker *t, uint32_t kind, struct as_heap_sums *ret);
