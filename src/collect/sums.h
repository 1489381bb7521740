#pragma once
/*
 * sums -- what the members of a job have, added up as they change.
 *
 * Of a big job hardly anybody changes between two ticks: each member's part is
 * kept with it, and only that of one that changed is taken out of the sums and
 * put in anew. A member that is forgotten takes its part with it.
 */
#include "collect/collector.h"

struct as_process;

/* The job's counters, in the order of as_counters[] (collect/counters.h). */
enum as_counter_id {
	AS_K_USER,
	AS_K_SYSTEM,
	AS_K_MINFLT,
	AS_K_MAJFLT,
	AS_K_READ,
	AS_K_WRITE,
	AS_K_CANCELLED,
	AS_K_RCHAR,
	AS_K_WCHAR,
	AS_K_SYSCR,
	AS_K_SYSCW,
	AS_K_VOLUNTARY,
	AS_K_FORCED,
	AS_K_WAIT,
	AS_NCOUNTERS
};

enum { AS_PART_NUMBERS = 2 * AS_NCOUNTERS + 8 };

/* What is added up: of one member, or of all. */
union as_part {
	struct {
		int64_t counter
			[AS_NCOUNTERS];    /* with what it took over from children it waited for */
		int64_t own[AS_NCOUNTERS]; /* of those whose end was not told: by themselves     */
		int64_t procs, threads, rss, vms, swap, fds;
		int64_t fds_hidden; /* members whose files nobody may count           */
		int64_t peak;       /* largest resident sizes so far             */
		int64_t unknown;    /* of a member: bit k, counter k is not told */
	};
	int64_t number[AS_PART_NUMBERS];
};

struct as_sums {
	union as_part of;
	int64_t unknown[AS_NCOUNTERS]; /* how many members do not tell it */
};

/* Is what it used in nobody else's counters? When it was waited for, the kernel has added it. */
bool as_sums_counts(const struct as_process *p);
/* Its largest resident size while we looked: a peak from before the run is not the run's. */
int64_t as_sums_peak(const struct as_process *p);
/* Bring its part up to date. True: there was something to do. */
bool as_sums_update(struct as_sums *all, struct as_process *p, const struct as_collect *c);
/* It is forgotten. */
void as_sums_leave(struct as_sums *all, const struct as_process *p);
