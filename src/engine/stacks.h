#pragma once
/*
 * stacks -- a thread of our own that samples the Python stacks of a job.
 *
 * Sampling has moments to keep, which the engine's loop could not: a tick that
 * reads a thousand processes would make them late. The thread owns the sampler
 * and the profile until it is joined; what others may look at meanwhile are
 * the counts.
 */
#include <stdatomic.h>

#include "stack/sampler.h"

struct as_stacks_config {
	struct as_sampler_config sampler;
	bool children; /* the Pythons among its descendants too */
};

/* How it goes, for whoever watches. */
struct as_stacks_progress {
	_Atomic uint64_t samples, late, rejected;
};

struct as_stacks_result {
	struct as_profile *profile; /* caller frees; NULL: there is none    */
	struct as_sampler_count count;
	size_t pythons;    /* processes that were looked at                 */
	struct as_err why; /* why the first process was not one of them     */
};

struct as_stacks; /* at work */

/* Begin to look at process `pid`, as soon as it is a Python. */
int as_stacks_start(const struct as_stacks_config *config, const struct as_env *env, pid_t pid,
		    struct as_stacks_progress *progress, struct as_stacks **ret,
		    struct as_err *err);
/* Stop and take what was seen. NULL is nothing to stop. */
void as_stacks_finish(struct as_stacks *s, struct as_stacks_result *ret);
