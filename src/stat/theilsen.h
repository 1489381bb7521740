#pragma once
/*
 * theilsen -- the slope of a line through points, which outliers do not bend.
 *
 * The Theil-Sen slope is the median of the slopes between all pairs of points;
 * up to 29 % of the points may be wrong altogether. The pairs are never
 * listed: the pairs with a slope below m are the inversions of y - m*t, which
 * a merge sort counts, so that any quantile is found by bisection, in
 * n log n steps a try, without memory of the heap.
 *
 * The interval comes from the distribution of Kendall's S. Points close in
 * time are alike, and say less than as many independent ones would: the
 * variance of S is blown up for that by the autocorrelation of the ranks of
 * the residuals (Hamed and Rao 1998; their sum ends at the first lag that
 * tells nothing), and at least as a first-order autoregression would, whose
 * coefficient short series underestimate (Kendall's correction).
 */
#include <stddef.h>

enum { AS_THEILSEN_MIN = 8, AS_THEILSEN_MAX = 2048 };

/* In units of y for a unit of t. All NaN when it cannot be told. */
struct as_slope {
	double mid;
	double low, high; /* 95 % */
};

/* `t` must increase; n in AS_THEILSEN_MIN..AS_THEILSEN_MAX, else all is NaN. */
struct as_slope as_theilsen(const double *t, const double *y, size_t n);
