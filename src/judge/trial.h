#pragma once
/*
 * trial -- does a load keep to its thresholds, and how sure is that?
 *
 * "p99 < 250 ms" is: of all requests at least 99 % took less. So a quantile, as
 * a share of errors, is a share of requests, and has the interval of one
 * (stat/share.h), by slices of the load's time. When the interval is on one
 * side of the bound the trial is decided, also before its time is over. A mean
 * and a rate have the interval of their slices. What has none (a largest value, a
 * count, what a target used) is told at the end, and is sure only when nothing
 * that may still come could change it.
 */
#include "judge/threshold.h"
#include "stat/share.h"

/* Of fewer requests nothing is sure, whatever an interval says. */
enum { AS_TRIAL_FEWEST = 5 };

struct as_trial {
	const struct as_thresholds *thresholds;
	/* private */
	struct as_share share[AS_THRESHOLDS_MOST];
	struct as_load *slice;
	struct as_load_check before[AS_LOAD_CHECKS]; /* by the end of the last slice */
};

struct as_trial_view {
	bool keeps, sure;
	const struct as_threshold *missed; /* the first that is missed, or seems to be; or NULL */
};

/* as_trial_close() follows. `thresholds` stay where they are. */
int as_trial_open(struct as_trial *t, const struct as_thresholds *thresholds, struct as_err *err);
void as_trial_close(struct as_trial *t);

/* What ended in one more stretch of time. */
struct as_trial_slice {
	const struct as_histogram *latency, *wire, *waiting;
	uint64_t requests, failed, met;       /* met: all bounds */
	uint64_t answers;                     /* whatever they say */
	int64_t ns;                           /* that it took      */
	const struct as_load_streams *stream; /* NULL: there are none */
	size_t nsteps, nchecks;               /* of a flow, named before */
	const struct as_load_step *step;
	const struct as_load_check *check; /* whose counts are what they were by its end */
};

/* Of a flow, before the first slice: its next step, and the next check, which is of that. */
void as_trial_name_step(struct as_trial *t, const char *name);
void as_trial_name_check(struct as_trial *t, size_t step);

void as_trial_add(struct as_trial *t, const struct as_trial_slice *s);
/* `whole` is the load once it is over; NULL: so far, and what needs its end is not sure. */
struct as_trial_view as_trial_judge(const struct as_trial *t, const struct as_load *whole);
