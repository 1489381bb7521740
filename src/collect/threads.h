#pragma once
/*
 * threads -- the CPU time of every thread of a process, by its schedstat.
 *
 * Nanoseconds, and time spent ready but waiting for a CPU, which no other file
 * tells. The folder of threads is listed only when their number changed, a
 * thread ended, or every few ticks.
 */
#include "collect/process.h"

enum { AS_THREADS_MAX = 4096 }; /* of one process; more are not followed */

static inline bool as_threads_wanted(const struct as_want *w)
{
	return as_wants_group(w, AS_G_CPU) || as_wants_group(w, AS_G_THREADS) ||
	       as_wants_group(w, AS_G_SCHED);
}
void as_threads_read(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool);
/* The process called exec, or has grown up: threads name themselves after they start. */
void as_threads_rename(struct as_process *p, const struct as_collect *c);
/* A pass (collect/pass.h) tells of one; and afterwards, those it did not tell of have ended. */
void as_threads_told(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		     const struct as_wire_thread *w, uint64_t pass);
void as_threads_untold(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		       uint64_t pass);
void as_threads_rows(const struct as_process *p, const struct as_collect *c,
		     struct as_frame *frame);
/* Time that its threads, ended ones too, were ready and waited; AS_PROC_NA unknown. */
int64_t as_threads_wait(const struct as_process *p);
/* CPU time of those that live, since each was born. */
int64_t as_threads_run(const struct as_process *p);
/*
 * One ended, and what it used after the last look at it is not known: what is told of threads is
 * not measured to their ends. Many may end; it is told once, or after other origins were.
 */
void as_threads_doubt(const struct as_collect *c, struct as_proc_pool *pool);
void as_threads_doubt_again(const struct as_collect *c, const struct as_proc_pool *pool);
void as_threads_close(struct as_process *p, struct as_proc_pool *pool);
