#include "stat/theilsen.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double Z95 = 1.959963984540054;

/* ── quantiles of the slopes ──────────────────────────────────────────── */

/* Merge the sorted halves v[0..mid) and v[mid..n); how many pairs stood in the wrong order. */
static uint64_t merge(double *v, double *spare, size_t mid, size_t n)
{
	uint64_t wrong = 0;
	size_t a = 0, b = mid, out = 0;

	while (a < mid && b < n) {
		if (v[b] < v[a]) {
			wrong += mid - a;
			spare[out++] = v[b++];
		} else {
			spare[out++] = v[a++];
		}
	}
	memcpy(spare + out, v + a, (mid - a) * sizeof *v);
	memcpy(v, spare, (out + mid - a) * sizeof *v);
	return wrong;
}

static uint64_t inversions(double *v, double *spare, size_t n)
{
	uint64_t wrong = 0;

	for (size_t width = 1; width < n; width *= 2)
		for (size_t at = 0; at + width < n; at += 2 * width) {
			size_t len = n - at < 2 * width ? n - at : 2 * width;

			wrong += merge(v + at, spare, width, len);
		}
	return wrong;
}

/* How many pairs have a slope below m. */
static uint64_t below(const double *t, const double *y, size_t n, double m)
{
	double v[AS_THEILSEN_MAX], spare[AS_THEILSEN_MAX];

	for (size_t i = 0; i < n; i++)
		v[i] = y[i] - m * t[i];
	return inversions(v, spare, n);
}

/* The largest m with at most `rank` slopes below it: the slope of that rank, counted from 0. */
static double slope_at(const double *t, const double *y, size_t n, uint64_t rank)
{
	double lo = INFINITY, hi = -INFINITY;

	/* The slope of any pair is between those of neighbours. */
	for (size_t i = 1; i < n; i++) {
		double m = (y[i] - y[i - 1]) / (t[i] - t[i - 1]);

		lo = fmin(lo, m);
		hi = fmax(hi, m);
	}
	for (int i = 0; i < 60 && hi - lo > 1e-12 * (fabs(lo) + fabs(hi)); i++) {
		double m = lo + (hi - lo) / 2;

		if (below(t, y, n, m) <= rank)
			lo = m;
		else
			hi = m;
	}
	return lo + (hi - lo) / 2;
}

/* ── how much the points know of each other ───────────────────────────── */

/* Ranks of the residuals, less their mean. */
static void ranks(const double *t, const double *y, size_t n, double slope, double *ret)
{
	double left[AS_THEILSEN_MAX];

	for (size_t i = 0; i < n; i++)
		left[i] = y[i] - slope * t[i];
	for (size_t i = 0; i < n; i++) {
		double rank = 0;

		for (size_t k = 0; k < n; k++)
			rank += left[k] < left[i] ? 1 : left[k] == left[i] ? 0.5 : 0;
		ret[i] = rank - (double)n / 2;
	}
}

static double product(const double *v, size_t n, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < n; i++)
		sum += v[i] * v[i + lag];
	return sum;
}

/* The variance inflation of a first-order autoregression. */
static double by_first_lag(double r, double n)
{
	double p = fmin(r + (2 + 4 * r) / n, 1 - 4 / n);

	return (1 + p) / (1 - p);
}

/* By how much the variance of S is larger than that of independent points. */
static double inflation(const double *t, const double *y, size_t n, double slope)
{
	double v[AS_THEILSEN_MAX], sum = 0, count = (double)n, tells = Z95 / sqrt((double)n);
	double first = 0;

	ranks(t, y, n, slope, v);
	double all = product(v, n, 0);
	for (size_t lag = 1; lag + 2 < n && all > 0; lag++) {
		double r = product(v, n, lag) / all, left = (double)(n - lag);

		if (!(r > tells))
			break;
		first = lag == 1 ? r : first;
		sum += left * (left - 1) * (left - 2) * r;
	}
	double f = 1 + 2 * sum / (count * (count - 1) * (count - 2));
	return first > 0 ? fmax(f, by_first_lag(first, count)) : f;
}

/* ── the slope ────────────────────────────────────────────────────────── */

static bool usable(const double *t, const double *y, size_t n)
{
	if (n < AS_THEILSEN_MIN || n > AS_THEILSEN_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(t[i]) || !isfinite(y[i]) || (i && !(t[i] > t[i - 1])))
			return false;
	return true;
}

struct as_slope as_theilsen(const double *t, const double *y, size_t n)
{
	struct as_slope s = {NAN, NAN, NAN};
	uint64_t pairs = (uint64_t)n * (n ? n - 1 : 0) / 2;
	double count = (double)n;

	if (!usable(t, y, n))
		return s;
	s.mid = slope_at(t, y, n, pairs / 2);
	double sd = sqrt(count * (count - 1) * (2 * count + 5) / 18 * inflation(t, y, n, s.mid));
	double low = floor(((double)pairs - Z95 * sd) / 2) - 1;
	s.low = slope_at(t, y, n, low > 0 ? (uint64_t)low : 0);
	s.high = slope_at(t, y, n, pairs - 1 - (low > 0 ? (uint64_t)low : 0));
	return s;
}
