#pragma once
/*
 * trail -- a value over all of its time, in so many points at most.
 *
 * When there is no room for more, two points become one, and stand for twice
 * the time from then on. A point is the largest of what was told in its time,
 * so that no peak is lost.
 */
#include <stddef.h>

enum { AS_TRAIL_MOST = 256 };

struct as_trail {
	double v[AS_TRAIL_MOST];
	size_t n;
	unsigned each, pending; /* values that a point stands for; that the last one has */
};

/* NaN: unknown. */
void as_trail_add(struct as_trail *t, double v);
/* The largest; NaN: nothing is known. */
double as_trail_most(const struct as_trail *t);
