#pragma once
/*
 * toll -- what a load takes of a process that is watched meanwhile.
 *
 * Sums are those that the engine tells at the end; the most at once is looked
 * for in the samples as they pass.
 */
#include "load/sessions.h"
#include "profile/loops.h"
#include "run/frame.h"
#include "run/run.h"
#include "stat/tally.h"

struct as_toll {
	struct as_tally cpu, processes, threads, files;
	const struct as_sessions *sessions; /* that are held there; or NULL */
	struct as_held held;
	int64_t ended_ns; /* AS_NA: it is there  */
	bool seen;        /* it was there before */
};

/* `sessions`: what a session takes is wanted, too; or NULL. */
struct as_toll as_toll_new(const struct as_sessions *sessions);
/* A sample of it. */
void as_toll_note(struct as_toll *t, const struct as_frame *frame);
/* Into *ret, but for its name and number. Loops that were never watched have no profile. */
void as_toll_finish(const struct as_toll *t, const struct as_total *totals,
		    const struct as_loops *loops, int64_t duration_ns, struct as_load_target *ret);
