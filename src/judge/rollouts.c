#include "judge/rollouts.h"

#include "base/clock.h"

enum { TOOL, VERIFY, LAG };

static const struct as_gym_target targets[AS_GYM_TARGETS] = {
	[TOOL] = {.key = "tool", .title = "tool", .limit_ns = 100 * AS_MSEC},
	[VERIFY] = {.key = "verify", .title = "verify", .limit_ns = 50 * AS_MSEC},
	[LAG] = {.key = "loop_lag", .title = "loop lag", .limit_ns = 10 * AS_MSEC},
};

static void take_times(const struct as_histogram *h, const char *otherwise, struct as_gym_target *t)
{
	t->n = h->n;
	t->p50 = t->p99 = t->max = AS_NA;
	t->why = h->n ? NULL : otherwise;
	if (!h->n)
		return;
	t->p50 = as_histogram_at(h, 0.5);
	t->p99 = as_histogram_at(h, 0.99);
	t->max = h->max;
}

static const char *why_no_tools(const struct as_rollouts *r)
{
	if (r->driven)
		return "no row's response calls a tool";
	return "no result has an ng_trajectory with tools: turn observability on "
	       "(observability_enabled), or replay the results with --drive SERVER";
}

static const char *why_no_verify(const struct as_rollouts *r)
{
	if (r->driven)
		return "nothing came as far as verify";
	return "the agent calls it, and tells no times: replay the results with --drive SERVER";
}

static const struct as_load_target *slowest(const struct as_load *l)
{
	const struct as_load_target *worst = NULL;

	for (size_t i = 0; l && i < l->ntargets; i++)
		if (l->target[i].lags && (!worst || l->target[i].lag_p99 > worst->lag_p99))
			worst = &l->target[i];
	return worst;
}

/* That of the server that is held up most: one that is not is no comfort. */
static void take_lag(const struct as_load *l, struct as_gym_target *t)
{
	const struct as_load_target *worst = slowest(l);

	t->p50 = t->p99 = t->max = AS_NA;
	if (worst) {
		t->n = worst->lags;
		t->p50 = worst->lag_p50;
		t->p99 = worst->lag_p99;
		t->max = worst->lag_max;
		t->server = worst->name;
	} else if (l && l->ntargets) {
		t->why = "no event loop was seen in who was watched: does it have one, and may "
			 "you look at it (assay doctor)?";
	} else {
		t->why = "nobody was watched: name the servers with --watch PID, or ask a head "
			 "server on this machine";
	}
}

bool as_judge_gym(const struct as_rollouts *r, const struct as_load *l,
		  struct as_gym_target ret[AS_GYM_TARGETS])
{
	bool met = true;

	for (size_t i = 0; i < AS_GYM_TARGETS; i++)
		ret[i] = targets[i];
	take_times(&r->tool, why_no_tools(r), &ret[TOOL]);
	take_times(&r->verify, why_no_verify(r), &ret[VERIFY]);
	take_lag(l, &ret[LAG]);
	for (size_t i = 0; i < AS_GYM_TARGETS; i++) {
		ret[i].met = ret[i].n && ret[i].p99 < ret[i].limit_ns;
		met &= ret[i].met;
	}
	return met;
}

const struct as_load_target *as_session_worst(const struct as_load *l)
{
	const struct as_load_target *worst = NULL;

	for (size_t i = 0; l && i < l->ntargets; i++) {
		const struct as_load_target *t = &l->target[i];

		if (t->session_how != AS_SESSION_NONE &&
		    (!worst || t->session_bytes > worst->session_bytes))
			worst = t;
	}
	return worst;
}
