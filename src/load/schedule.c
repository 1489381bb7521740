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

void as_schedule_start(struct as_schedule *s, uint64_t seed)
{
	as_random_seed(&s->random, seed);
	s->n = 0;
	s->at_s = 0;
}

int64_t as_schedule_next(struct as_schedule *s)
{
	uint64_t k = s->n++;

	if (s->arrival == AS_ARRIVE_CONSTANT)
		return (int64_t)((double)k / s->rate * 1e9);
	double gap = s->arrival == AS_ARRIVE_POISSON ? as_random_exponential(&s->random)
						     : as_random_gamma(&s->random, s->shape);
	s->at_s += gap / s->rate;
	return (int64_t)(s->at_s * 1e9);
}
