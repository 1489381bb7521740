#include "judge/rollouts.h"

#include "base/clock.h"

bool as_judge_gym(const struct as_rollouts *r, const struct as_histogram *lag,
		  struct as_gym_target ret[AS_GYM_TARGETS])
{
	const struct as_gym_target targets[AS_GYM_TARGETS] = {
		{"tool", "tool", 100 * AS_MSEC, &r->tool, false},
		{"verify", "verify", 50 * AS_MSEC, &r->verify, false},
		{"loop_lag", "loop lag", 10 * AS_MSEC, lag, false},
	};
	bool met = true;

	for (size_t i = 0; i < AS_GYM_TARGETS; i++) {
		ret[i] = targets[i];
		ret[i].missed = ret[i].times && ret[i].times->n &&
				as_histogram_at(ret[i].times, 0.99) >= ret[i].limit_ns;
		met &= !ret[i].missed;
	}
	return met;
}
