#pragma once
/*
 * schedule -- when each request is due, known before any of them is answered.
 *
 * Moments are absolute: a late one moves none that follows. Each is computed
 * from the request's number, as the moment at which so many are due by the rate
 * (load/stages.h), so nothing adds up over a long run; of random arrivals, from
 * the sum of gaps whose mean is one.
 */
#include <stdint.h>

#include "base/err.h"
#include "load/stages.h"
#include "stat/random.h"

enum as_arrival { AS_ARRIVE_CONSTANT, AS_ARRIVE_POISSON, AS_ARRIVE_GAMMA };

/* Later than any load lasts: no more are due. */
#define AS_NEVER_DUE (INT64_MAX / 4)

struct as_schedule {
	double rate;           /* a second; of a plan, its mean */
	struct as_stages plan; /* none: the rate, all the time */
	enum as_arrival arrival;
	double shape; /* of AS_ARRIVE_GAMMA */
	/* private */
	struct as_random random;
	uint64_t n;  /* how many were told */
	double gaps; /* before the last, of a random schedule */
};

/* "constant", "poisson", "gamma:2.5" */
int as_schedule_parse(const char *text, struct as_schedule *ret, struct as_err *err);
/* The rate, as load/stages.h has it; before it begins, `warmup_ns` of what it begins with. */
int as_schedule_plan(const char *text, int64_t whole_ns, int64_t warmup_ns, struct as_schedule *ret,
		     struct as_err *err);
void as_schedule_start(struct as_schedule *s, uint64_t seed);
int64_t as_schedule_next(struct as_schedule *s); /* ns since the start */
