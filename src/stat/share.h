#pragma once
/*
 * share -- how large a share is, of events that come in time and resemble their
 * neighbours, with an interval.
 *
 * Requests that wait in one queue are slow together: a thousand of them say
 * less than a thousand strangers would. So they are counted in batches of time,
 * and the spread of the batches tells how much the whole may be off (method of
 * batch means, for a ratio). When there are too many batches neighbours are
 * joined: longer ones depend less on each other. What the batches cannot know,
 * such as a share of 1 in all of them, Wilson's interval does.
 */
#include <stddef.h>

enum { AS_SHARE_BATCHES = 32 };

struct as_share {
	double good[AS_SHARE_BATCHES], n[AS_SHARE_BATCHES];
	size_t batches;
	/* private: what has not come to a batch yet */
	unsigned width, pending;
};

/* All NaN when nothing was counted. */
struct as_share_interval {
	double mid, low, high;
};

/* One more stretch of time, as long as the others: all zeros is none so far. */
void as_share_add(struct as_share *s, double good, double n);
/* All that were. */
double as_share_counted(const struct as_share *s);
/* `z` standard deviations to either side, as of a normal distribution. */
struct as_share_interval as_share_of(const struct as_share *s, double z);
/*
 * The same of any ratio, such as a mean or so many a second: `good` is a sum then,
 * and `n` what it is a sum over. Bounds are NaN when the batches are too few.
 */
struct as_share_interval as_share_ratio(const struct as_share *s, double z);
/* The same of independent events. */
struct as_share_interval as_share_wilson(double good, double n, double z);
