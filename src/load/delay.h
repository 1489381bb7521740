#pragma once
/*
 * delay -- how long something takes, drawn anew each time: 20ms, exp:MEAN,
 * uniform:FROM:TO, lognormal:MEDIAN:SIGMA, gamma:MEAN:SHAPE.
 *
 * Exponential is a queue's classic; lognormal and gamma (below a shape of 1)
 * have the long tails of real services.
 */
#include "base/err.h"
#include "stat/random.h"

enum as_delay_kind {
	AS_DELAY_FIXED,
	AS_DELAY_EXP,
	AS_DELAY_UNIFORM,
	AS_DELAY_LOGNORMAL,
	AS_DELAY_GAMMA,
};

struct as_delay { /* all zeros: none */
	enum as_delay_kind kind;
	int64_t a_ns;  /* all of it, the mean, the median, or from */
	int64_t b_ns;  /* of a uniform one: to                     */
	double spread; /* sigma, or the shape                      */
};

int as_delay_parse(const char *text, struct as_delay *ret, struct as_err *err);
int64_t as_delay_draw(const struct as_delay *d, struct as_random *r);
