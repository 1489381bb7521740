#pragma once
/*
 * crowd -- a thread before CPUs that have others to serve.
 *
 * A thread that is ready looks as if it ran, whether it has a CPU or waits for one. If it slept
 * before, its stack is where it slept, and CPU time that is put there is wrong. So of one that
 * often waits for a CPU it is asked, at each look, whether it had one at the moment of the look:
 * it has one, or we took it for ourselves just now. The kernel tells both. It counts each time
 * that a thread is put on a CPU and each time that it leaves one; and when one task takes over
 * from another, it notes the same moment for both.
 *
 * Nor is it enough that it was pushed off its CPU, so that its stack is where it was at work: all
 * that it used since the last look would go to the place in which it waits longest.
 */
#include "os/env.h"
#include "os/proc.h"

struct as_crowd {
	int fd;       /* its /proc/TID/sched, kept open while it is crowded; -1: not */
	bool crowded; /* it is often ready without a CPU, or that is not known yet   */
	/* private */
	uint8_t odd;                  /* how little its counts add up                 */
	struct as_proc_sched weighed; /* when it was last found out who waits         */
};

void as_crowd_init(struct as_crowd *c, const struct as_proc_sched *now);
void as_crowd_done(struct as_crowd *c);
/* These are its times by now: does it wait for CPUs for more than a small part of them? */
void as_crowd_weigh(struct as_crowd *c, const struct as_proc_sched *now);
/* Does its stack show where it uses its time? `now` was just read; true where nobody tells. */
bool as_crowd_shows(struct as_crowd *c, const struct as_env *env, const struct as_proc_sched *now);
