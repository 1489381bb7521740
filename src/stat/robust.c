#include "stat/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mad_to_sigma = 1.4826;

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Move the known ones to the front; how many there are. */
static size_t gather(double *v, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			v[k++] = v[i];
	return k;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, ascending);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct as_robust as_robust_of(double *v, size_t n)
{
	struct as_robust r = {NAN, NAN};

	n = gather(v, n);
	if (!n)
		return r;
	r.middle = median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - r.middle);
	r.sigma = mad_to_sigma * median(v, n);
	return r;
}

double as_robust_mean(const double *v, size_t n, double *scratch)
{
	double sum = 0, known = 0;

	memcpy(scratch, v, n * sizeof *v);
	struct as_robust r = as_robust_of(scratch, n);
	double low = r.middle - AS_ROBUST_REACH * r.sigma;
	double high = r.middle + AS_ROBUST_REACH * r.sigma;
	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		sum += fmin(fmax(v[i], low), high);
		known++;
	}
	return sum / known;
}
