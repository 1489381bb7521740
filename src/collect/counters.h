#pragma once
/*
 * counters -- the job's counters as they are shown and, at the end, its totals.
 *
 * What the kernel adds up for us makes the sums exact also for children that
 * no sample ever saw. When a process is waited for, its CPU time and faults go
 * to its parent's c-counters, and its I/O to its parent's own: so the living
 * processes with their c-counters, plus what we reaped ourselves, is all.
 * (Only children that nobody waits for, SIGCHLD being ignored, slip through;
 * the control group knows those, and so does the ledger where somebody tells
 * us of every end: collect/witness.h.)
 */
#include "collect/sums.h"
#include "collect/witness.h"

/*
 * A sum over processes can dip for one tick: a child was reaped after its
 * parent was read. What is shown never goes back; a dip that stays is time
 * that the kernel gave to nobody, and is kept: the least of a few dips in a
 * row, since on a busy machine each may have a harmless part.
 */
struct as_steady {
	int64_t shown, kept, least;
	int dips;
};

struct as_counters {
	struct as_steady steady[AS_NCOUNTERS];
	struct as_steady cpu;     /* user and system time: how they are split may change */
	int64_t user, system;     /* of it, as shown: neither shrinks, and they add up   */
	bool guessed;             /* … and that is told to be a guess                    */
	uint32_t rows;            /* told so far                                         */
	struct as_proc_io own_io; /* that of our own reaped children, at the start     */
	bool root_reaped;         /* the first process is among those we reaped        */
	bool last;                /* the job has ended: nothing more will be told      */
	/* What those we reaped had used; it is the same until we reap another. */
	bool reaped_known;
	int64_t reaped[AS_NCOUNTERS];
};

/* Where the ledger has it. */
int64_t as_counter_used(const struct as_life_usage *u, enum as_counter_id k);

void as_counters_open(struct as_counters *s, const struct as_collect *c);
/* A child of ours is about to be reaped. */
void as_counters_reaping(struct as_counters *s, bool root);
/* What is shown of them at this tick. */
void as_counters_row(struct as_counters *s, const struct as_collect *c, const struct as_members *m,
		     const struct as_ledger *g, int64_t *row);
/* The totals. `ticks`: samples there were. */
void as_counters_finish(struct as_counters *s, const struct as_collect *c,
			const struct as_members *m, const struct as_ledger *g,
			const struct as_witness *w, uint64_t ticks, struct as_total *totals);
