#pragma once
/*
 * robust -- middle and spread that a few wild values cannot move.
 */
#include <stddef.h>

struct as_robust {
	double middle; /* the median                                             */
	double sigma;  /* from the median distance, in the size of a standard    */
		       /* deviation of normal noise                              */
};

/* Unknown values (NaN) do not count; without any, both are NaN. v[0..n) is spoilt. */
struct as_robust as_robust_of(double *v, size_t n);

enum { AS_ROBUST_REACH = 4 }; /* sigmas from the middle; beyond is an outlier */

/* The mean of v[0..n), outliers pulled in; `scratch` has room for n. NaN when all are unknown. */
double as_robust_mean(const double *v, size_t n, double *scratch);
