#pragma once
/*
 * cputime -- the counters of one "cpu" line of /proc/stat, since the run began.
 *
 * The first line is the machine's (system.c), the others are the cores'
 * (cores.c). On a large machine it is the dearest file of /proc, so whoever
 * reads it for the cores takes the first line along, and system.c leaves it.
 */
#include "collect/source.h"
#include "os/machine.h"

enum { AS_CT_USER, AS_CT_SYSTEM, AS_CT_IOWAIT, AS_CT_STEAL, AS_CT_IDLE, AS_NCT };

struct as_cputime {
	struct as_counter column[AS_NCT];
};

extern const struct as_source as_stat_system, as_stat_cores;

/* Put what passed since the first call into a row of the machine, or of a core. */
void as_cputime_system(struct as_cputime *t, const struct as_collect *c,
		       const struct as_cpu_times *now, int64_t *row);
void as_cputime_core(struct as_cputime *t, const struct as_collect *c,
		     const struct as_cpu_times *now, int64_t *row);
