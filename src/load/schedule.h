#pragma once
/*
 * schedule -- when each request is due, known before any of them is answered.
 *
 * Moments are absolute: a late one moves none that follows. A constant rate is
 * computed from the request's number, so nothing adds up over a long run.
 */
#include <stdint.h>

#include "base/err.h"
#include "stat/random.h"

enum as_arrival { AS_ARRIVE_CONSTANT, AS_ARRIVE_POISSON, AS_ARRIVE_GAMMA };

struct as_schedule {
	double rate; /* a second */
	enum as_arrival arrival;
	double shape; /* of AS_ARRIVE_GAMMA */
	/* private */
	struct as_random random;
	uint64_t n;  /* how many were told */
	double at_s; /* of the last, of a random schedule */
};

/* "constant", "poisson", "gamma:2.5" */
int as_schedule_parse(const char *text, struct as_schedule *ret, struct as_err *err);
void as_schedule_start(struct as_schedule *s, uint64_t seed);
int64_t as_schedule_next(struct as_schedule *s); /* ns since the start */
