#pragma once
/*
 * tracker -- sums of one process's events, with its exact peak.
 *
 * The peak is known online: each kind has what it held at the last peak and
 * what has changed since, and is brought up to date only when it is touched
 * after a newer peak (a counter says so). An event costs the same whatever
 * there is.
 */
#include "base/err.h"
#include "heap/event.h"

enum { AS_HEAP_SIZES = 64 }; /* bucket of a size: bits that it takes, at most 63 */

struct as_heap_amount {
	int64_t count, bytes;
};

/* Counts that are no whole numbers yet. */
struct as_heap_numbers {
	double made, peak, left;
};

/*
 * What all allocations of one kind came to. Sampled: estimates. Counts of one
 * kind are rounded when they are read; sums of many are rounded once, from what
 * they were before (`number`; heap.h has those, a tracker leaves it zero).
 */
struct as_heap_sums {
	struct as_heap_amount made, peak, left, temporary;
	double variance_made, variance_peak, variance_left, variance_temporary; /* of bytes */
	struct as_heap_numbers number, variance;                                /* of counts */
};

/*
 * The first highest moment of whoever shares it. Counts are in units of
 * 1/AS_HEAP_ONE: a sampled allocation stands for no whole number of them.
 * All zeros is the beginning.
 */
struct as_heap_crest {
	struct as_heap_amount now, high;
	int64_t ns;     /* when it was highest                              */
	uint64_t epoch; /* how many new highest moments are past            */
	bool rising;    /* the newest is now                                */
};

#define AS_HEAP_ONE INT64_C(65536)

/* What an event adds or takes, of a kind of that size; the count as in a crest. */
struct as_heap_share {
	int64_t count, bytes;
	double variance;
};

struct as_heap_share as_heap_share(uint64_t size, const struct as_heap_event *e);
/* Of one that is thinned: what it stands for then, which may be nothing. */
struct as_heap_share as_heap_share_then(uint64_t size, const struct as_heap_event *e);

struct as_tracker; /* one process */

/*
 * temporary: freed before its thread has made more than so many other allocations.
 * of_all: of the processes that are looked at together, fed with their events in
 * one order; the peak of a kind is what it held then. NULL: this one is alone.
 */
struct as_tracker *as_tracker_new(uint64_t temporary, struct as_heap_crest *of_all,
				  struct as_err *err);
void as_tracker_free(struct as_tracker *t);
/* Kinds are numbered from 0 and told in that order. False for want of memory. */
bool as_tracker_kind(struct as_tracker *t, uint32_t kind, const struct as_heap_kind *k);
/*
 * What happened. False: a kind that was not told, or want of memory; the rest is
 * left out, and the sums are no longer true.
 */
bool as_tracker_event(struct as_tracker *t, const struct as_heap_event *e);
bool as_tracker_batch(struct as_tracker *t, const struct as_heap_batch *r);

/* The process is gone: what it left counts no more in a later peak of all. */
void as_tracker_ended(struct as_tracker *t);
/*
 * The highest moment is now, and higher ones replace it: where a window begins.
 * For each of the trackers that share a crest, with no event in between.
 */
void as_tracker_peak_again(struct as_tracker *t, int64_t ns);

struct as_heap_totals {
	struct as_heap_amount made, freed, left, peak;
	int64_t peak_ns;              /* when it had most; as_heap_event.ns         */
	int64_t sizes[AS_HEAP_SIZES]; /* allocations by size                      */
};

/* Which of the sizes. */
size_t as_heap_bucket(uint64_t size);

/* Of the process; its peak is its own. */
void as_tracker_totals(const struct as_tracker *t, struct as_heap_totals *ret);
int64_t as_tracker_live(const struct as_tracker *t); /* bytes that it has now */
size_t as_tracker_kinds(const struct as_tracker *t);
/* Sums of a kind, as of now; `peak` is of the highest moment so far (of all). */
void as_tracker_sums(const struct as_tracker *t, uint32_t kind, struct as_heap_sums *ret);
/* It had ended before the highest moment so far: its kinds have no part in that. */
bool as_tracker_past(const struct as_tracker *t);
/* What a crest was when it was highest, and is now; counts rounded. */
struct as_heap_amount as_heap_crest_high(const struct as_heap_crest *c);
struct as_heap_amount as_heap_crest_now(const struct as_heap_crest *c);
