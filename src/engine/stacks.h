#pragma once
/*
 * stacks -- a thread of our own that samples the Python stacks of a job.
 *
 * Sampling has moments to keep, which the engine's loop could not: a tick that
 * reads a thousand processes would make them late. The thread owns the sampler
 * and its profile. What was seen in a second is handed over when that is over,
 * as a profile of its own: so the engine's sinks have all but the last moments,
 * whatever happens to us, and the thread keeps little.
 */
#include <stdatomic.h>

#include "run/run.h"
#include "stack/sampler.h"

struct as_stacks_config {
	struct as_sampler_config sampler; /* slices of 0 grow with the run         */
	bool children;                    /* the Pythons among its descendants too */
};

/* How it goes, for whoever watches. */
struct as_stacks_progress {
	_Atomic uint64_t samples, late, rejected;
};

/* What a run with stacks says beside them. */
struct as_stacks_result {
	size_t pythons;    /* processes that were looked at                 */
	struct as_err why; /* why the first process was not one of them     */
};

struct as_stacks; /* at work */

/* Begin to look at process `pid`, as soon as it is a Python. Slices count from `origin_ns`. */
int as_stacks_start(const struct as_stacks_config *config, const struct as_env *env, pid_t pid,
		    int64_t origin_ns, struct as_stacks_progress *progress, struct as_stacks **ret,
		    struct as_err *err);
int as_stacks_fd(const struct as_stacks *s);      /* readable when there is something to take */
int32_t as_stacks_tid(const struct as_stacks *s); /* its thread                              */
/* What was handed over since, or NULL; caller frees. *ret gets the counts so far. */
struct as_profile *as_stacks_take(struct as_stacks *s, struct as_sampling *ret);
/*
 * Look at the sampler, and at the profile that it adds to, between two looks of
 * its own: it waits meanwhile, so `see` has to be quick.
 */
void as_stacks_view(struct as_stacks *s, void (*see)(void *arg, const struct as_sampler *sampler),
		    void *arg);
/*
 * Look no more: what is left is handed over. The thread stands still but is
 * there until as_stacks_free(), for those who ask what it has read.
 */
void as_stacks_stop(struct as_stacks *s, struct as_stacks_result *ret);
void as_stacks_free(struct as_stacks *s); /* NULL is fine */
