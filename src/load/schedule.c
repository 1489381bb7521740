#include "load/schedule.h"

#include <string.h>

#include "base/num.h"

static int bad(const char *text, struct as_err *err)
{
	(void)as_fail(err, AS_EUSAGE, "no arrival '%.60s'", text);
	return as_hint(err, "constant, poisson, or gamma:SHAPE with a shape from 0.01 to 1000");
}

int as_schedule_parse(const char *text, struct as_schedule *ret, struct as_err *err)
{
	if (!strcmp(text, "constant") || !strcmp(text, "poisson")) {
		ret->arrival = *text == 'c' ? AS_ARRIVE_CONSTANT : AS_ARRIVE_POISSON;
		return AS_OK;
	}
	size_t n = strlen(text);
	if (strncmp(text, "gamma:", 6) != 0 || as_scan_dec(text + 6, n - 6, &ret->shape) != n - 6 ||
	    !(ret->shape >= 0.01) || !(ret->shape <= 1000))
		return bad(text, err);
	ret->arrival = AS_ARRIVE_GAMMA;
	return AS_OK;
}

int as_schedule_plan(const char *text, int64_t whole_ns, int64_t warmup_ns, struct as_schedule *ret,
		     struct as_err *err)
{
	int r = as_stages_parse(text, whole_ns, &ret->plan, err);

	if (r < 0)
		return r;
	double most = as_stages_most(&ret->plan), all = as_stages_seconds(&ret->plan);
	if (!(most > 0))
		return as_fail(err, AS_EUSAGE, "a rate of nothing is no load");
	ret->rate = as_stages_vary(&ret->plan) ? as_stages_sum(&ret->plan, all) / all : most;
	return as_stages_delay(&ret->plan, warmup_ns, err);
}

void as_schedule_start(struct as_schedule *s, uint64_t seed)
{
	as_random_seed(&s->random, seed);
	if (!s->plan.n)
		s->plan = as_stages_constant(s->rate);
	s->n = 0;
	s->gaps = 0;
}

/* How many are due before this one. */
static double due_before(struct as_schedule *s)
{
	uint64_t k = s->n++;

	if (s->arrival == AS_ARRIVE_CONSTANT)
		return (double)k;
	s->gaps += s->arrival == AS_ARRIVE_POISSON ? as_random_exponential(&s->random)
						   : as_random_gamma(&s->random, s->shape);
	return s->gaps;
}

int64_t as_schedule_next(struct as_schedule *s)
{
	double at = as_stages_when(&s->plan, due_before(s)) * 1e9;

	return at < (double)AS_NEVER_DUE ? (int64_t)at : AS_NEVER_DUE;
}
