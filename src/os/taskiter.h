#pragma once
/*
 * taskiter -- all living processes and threads of the job in one pass through
 * the kernel, by BPF: what /proc would tell of each, without opening a file of
 * anybody. The kernel's task iterator finds those whose birth nobody told; then
 * each has a seat (bpf/seats.h), and nobody else's tasks are walked.
 *
 * Who belongs, the source of births and deaths knows: this is its other half, and
 * it must be one of as_life_bpf that outlives it.
 */
#include "os/life.h"
#include "wire/task.h"

/*
 * `group`: of the first thread of a process; NULL for the others. Any order. What
 * thread->kind says to be brief has no group->ended.
 */
typedef void as_task_fn(void *data, const struct as_wire_thread *thread,
			const struct as_wire_group *group);

/*
 * Tell of everyone once; unless `all`, not of processes that are as they were when they
 * were last told of: those are only counted; nor, of the others, of what the kernel has
 * added up of those that ended, where that is as it was.
 */
int as_taskiter_pass(struct as_life_source *bpf, bool all, as_task_fn *fn, void *data,
		     uint64_t *ret_quiet, struct as_err *err);

/* The letter that /proc shows: R, S, D, T, t, X, Z, P, I. */
char as_task_state(const struct as_wire_group *g);
