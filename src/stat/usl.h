#pragma once
/*
 * usl -- the universal scalability law (Gunther): what a server answers a
 * second when n requests are under way at once.
 *
 *	X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1))
 *
 * lambda is what one alone gets, sigma the share that can only be done one
 * after the other, kappa what each costs each other; with it there is a peak.
 * n/X is linear in the three, so they are found by least squares of relative
 * errors, none of them below 0, and their intervals by fitting samples of the
 * points again, drawn with putting back.
 */
#include <stdbool.h>
#include <stddef.h>

enum { AS_USL_LEAST = 4, AS_USL_MOST = 64 }; /* points */

struct as_usl_point {
	double n, x;
};

struct as_usl_number {
	double mid, low, high; /* 95 % */
};

struct as_usl {
	struct as_usl_number lambda, sigma, kappa;
	struct as_usl_number peak_n, peak_x; /* INFINITY: it only ever rises; x then to a limit */
	double error;                        /* of the points, relative, root of the mean square */
	bool far; /* the peak is beyond twice the largest n that was measured */
};

double as_usl_at(const struct as_usl *u, double n);
/* false: too few points, or of too few different n. */
bool as_usl_fit(const struct as_usl_point *p, size_t n, struct as_usl *ret);
