#pragma once
/*
 * stages -- an amount that changes by a plan: a rate, or how many at once.
 *
 *	100                    so much all the time
 *	10:100                 from 10 to 100, evenly over the whole time
 *	100@30s,100@1m,0@10s   up to 100 in 30 s (from 0), a minute of it, down to 0
 *	100:100@30s,500:500@1m steps: what stands before the colon is where one begins
 *
 * A stage that does not say where it begins goes on from the end of the one
 * before it, as k6's do.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { AS_STAGES_MOST = 32 };

struct as_stage {
	double from, to, seconds; /* seconds may be INFINITY: then from equals to */
};

struct as_stages {
	struct as_stage at[AS_STAGES_MOST];
	size_t n;
};

/* `whole_ns`: how long what names no time lasts; 0: for ever, and then it cannot change. */
int as_stages_parse(const char *text, int64_t whole_ns, struct as_stages *ret, struct as_err *err);
/* One stage that lasts for ever. */
struct as_stages as_stages_constant(double amount);
/* For so long before them, what they begin with. */
int as_stages_delay(struct as_stages *s, int64_t ns, struct as_err *err);

/* Do they change, or end? */
bool as_stages_vary(const struct as_stages *s);
double as_stages_seconds(const struct as_stages *s);
double as_stages_most(const struct as_stages *s);
double as_stages_at(const struct as_stages *s, double second);
/* The sum over time: of a rate, how many are due before `second`. */
double as_stages_sum(const struct as_stages *s, double second);
/* The moment at which the sum is n, exactly; INFINITY: never. */
double as_stages_when(const struct as_stages *s, double n);
