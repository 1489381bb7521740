#pragma once
/*
 * drain -- the records of one process, from its rings, in the order of their
 * numbers, as events.
 *
 * A number that is missing is waited for: its thread is about to write it. Not
 * for ever: when the process is gone, or after some seconds, what is missing is
 * counted as lost. The same goes for records that make no sense.
 */
#include "heap/deeds.h"
#include "heap/follow.h"

struct as_drain_counts {
	uint64_t records; /* that were read                                         */
	uint64_t allocations;
	int64_t mapped;  /* bytes of files that are mapped now                          */
	uint64_t before; /* frees of what was made before we were told of anything      */
	uint64_t lost;   /* numbers that never came, and came too late                  */
	uint64_t bad;    /* records that made no sense, and rings that lost their thread */
	bool incomplete; /* for want of memory: sums and events are not all             */
};

struct as_drain;

enum { AS_DRAIN_ONCE = 64 << 10 }; /* records that one call reads, about */

struct as_drain_config {
	const struct as_mapping *mapping;
	struct as_heap_names *names; /* gets the threads */
	struct as_deeds_config deeds;
};

struct as_drain *as_drain_new(const struct as_drain_config *config, struct as_err *err);
void as_drain_free(struct as_drain *d);
/*
 * What is complete, about AS_DRAIN_ONCE at most: how many records. `over`: nobody
 * writes any more. Call it until it says 0.
 */
size_t as_drain_run(struct as_drain *d, int64_t now_ns, bool over);
/* Is everything read that has a number by now? */
bool as_drain_empty(const struct as_drain *d);
void as_drain_counts(const struct as_drain *d, struct as_drain_counts *ret);
