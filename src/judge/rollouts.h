#pragma once
/*
 * rollouts -- what servers of an environment are held to (`--preset gym`): the
 * targets that NeMo Gym's page on profiling names. The 99th percentile counts.
 */
#include "run/rollouts.h"

enum { AS_GYM_TARGETS = 3 };

struct as_gym_target {
	const char *key, *title;
	int64_t limit_ns;
	const struct as_histogram *times; /* NULL or empty: it was not measured */
	bool missed;
};

/* `lag`: how long event loops were held up, or NULL. True when none was missed. */
bool as_judge_gym(const struct as_rollouts *r, const struct as_histogram *lag,
		  struct as_gym_target ret[AS_GYM_TARGETS]);
