#pragma once
/*
 * rollouts -- what servers of an environment are held to (`--preset gym`): the
 * targets that NeMo Gym's page on profiling names. The 99th percentile counts.
 *
 * What was not measured is not met: nobody knows that it is.
 */
#include "run/load.h"

enum { AS_GYM_TARGETS = 3 };

struct as_gym_target {
	const char *key, *title;
	int64_t limit_ns;
	uint64_t n; /* 0: it was not measured; then the next three are AS_NA */
	int64_t p50, p99, max;
	const char *server; /* whose it is, of those that were watched; or NULL */
	const char *why;    /* it was not measured, and what to do; or NULL     */
	bool met;
};

/* Of a collection, and of the load that it was, if it was one. True when all are met. */
bool as_judge_gym(const struct as_rollouts *r, const struct as_load *l,
		  struct as_gym_target ret[AS_GYM_TARGETS]);
/* The server of which a session takes most memory, one that does not know it, or NULL. */
const struct as_load_target *as_session_worst(const struct as_load *l);
