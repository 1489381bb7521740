#include "stat/usl.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stat/random.h"

enum { TERMS = 3, DRAWS = 400 };

/* 1/lambda, sigma/lambda, kappa/lambda */
struct terms {
	double v[TERMS];
	double error; /* sum of squares */
};

/* ── least squares ────────────────────────────────────────────────────── */

/* What the terms stand before in n/X, in units of it: the sum shall be 1. */
static void row(const struct as_usl_point *p, double ret[TERMS])
{
	double each = p->x / p->n;

	ret[0] = each;
	ret[1] = each * (p->n - 1);
	ret[2] = each * p->n * (p->n - 1);
}

static double error_of(const struct as_usl_point *p, size_t n, const double v[TERMS])
{
	double sum = 0, r[TERMS];

	for (size_t i = 0; i < n; i++) {
		row(&p[i], r);
		double off = 1 - r[0] * v[0] - r[1] * v[1] - r[2] * v[2];
		sum += off * off;
	}
	return sum;
}

/* Gauss with pivots; the terms that are not in `mask` stay 0. */
static bool solve(double a[TERMS][TERMS + 1], unsigned mask, double v[TERMS])
{
	size_t at[TERMS], m = 0;

	for (size_t i = 0; i < TERMS; i++) {
		v[i] = 0;
		if (mask >> i & 1)
			at[m++] = i;
	}
	for (size_t k = 0; k < m; k++) {
		double pivot = a[at[k]][at[k]];
		if (!(fabs(pivot) > 1e-12))
			return false;
		for (size_t i = k + 1; i < m; i++) {
			double f = a[at[i]][at[k]] / pivot;
			for (size_t j = k; j < m; j++)
				a[at[i]][at[j]] -= f * a[at[k]][at[j]];
			a[at[i]][TERMS] -= f * a[at[k]][TERMS];
		}
	}
	for (size_t k = m; k-- > 0;) {
		double sum = a[at[k]][TERMS];
		for (size_t j = k + 1; j < m; j++)
			sum -= a[at[k]][at[j]] * v[at[j]];
		v[at[k]] = sum / a[at[k]][at[k]];
	}
	return true;
}

/* Normal equations, each column in its own size, so that pivots can be told from nothing. */
static bool fit_terms(const struct as_usl_point *p, size_t n, unsigned mask, double v[TERMS])
{
	double a[TERMS][TERMS + 1] = {{0}}, r[TERMS], size[TERMS] = {0};

	for (size_t i = 0; i < n; i++) {
		row(&p[i], r);
		for (size_t j = 0; j < TERMS; j++)
			size[j] += r[j] * r[j];
	}
	for (size_t j = 0; j < TERMS; j++)
		size[j] = size[j] > 0 ? sqrt(size[j]) : 1;
	for (size_t i = 0; i < n; i++) {
		row(&p[i], r);
		for (size_t j = 0; j < TERMS; j++) {
			for (size_t k = 0; k < TERMS; k++)
				a[j][k] += r[j] * r[k] / size[j] / size[k];
			a[j][TERMS] += r[j] / size[j];
		}
	}
	bool ok = solve(a, mask, v);
	for (size_t j = 0; j < TERMS; j++)
		v[j] /= size[j];
	return ok;
}

/* Less is rounding: of two choices that are as good the one with fewer terms counts. */
static const double nothing = 1e-20;

/* The best of all choices of terms that are not negative; lambda is always one. */
static bool fit(const struct as_usl_point *p, size_t n, struct terms *ret)
{
	bool found = false;

	for (unsigned mask = 1; mask < 1U << TERMS; mask += 2) {
		struct terms t;

		if (!fit_terms(p, n, mask, t.v) || !(t.v[0] > 0) || t.v[1] < 0 || t.v[2] < 0)
			continue;
		t.error = error_of(p, n, t.v);
		if (!found || t.error + nothing < ret->error)
			*ret = t;
		found = true;
	}
	return found;
}

/* ── what follows from it ─────────────────────────────────────────────── */

enum { LAMBDA, SIGMA, KAPPA, PEAK_N, PEAK_X, NUMBERS };

static double at(const double v[NUMBERS], double n)
{
	return v[LAMBDA] * n / (1 + v[SIGMA] * (n - 1) + v[KAPPA] * n * (n - 1));
}

static void numbers_of(const struct terms *t, double ret[NUMBERS])
{
	double rise;

	ret[LAMBDA] = 1 / t->v[0];
	ret[SIGMA] = t->v[1] / t->v[0];
	ret[KAPPA] = t->v[2] / t->v[0];
	rise = (1 - ret[SIGMA]) / ret[KAPPA];
	ret[PEAK_N] = !(ret[KAPPA] > 0) ? INFINITY : rise > 1 ? sqrt(rise) : 1;
	ret[PEAK_X] = isfinite(ret[PEAK_N]) ? at(ret, ret[PEAK_N])
		      : ret[SIGMA] > 0      ? ret[LAMBDA] / ret[SIGMA]
					    : INFINITY;
}

double as_usl_at(const struct as_usl *u, double n)
{
	double v[NUMBERS] = {u->lambda.mid, u->sigma.mid, u->kappa.mid};

	return at(v, n);
}

/* ── intervals ────────────────────────────────────────────────────────── */

static int by_value(const void *a_, const void *b_)
{
	double a = *(const double *)a_, b = *(const double *)b_;

	return (a > b) - (a < b);
}

static struct as_usl_number interval(double mid, double *v, size_t n)
{
	if (n < DRAWS / 2)
		return (struct as_usl_number){mid, NAN, NAN};
	qsort(v, n, sizeof *v, by_value);
	return (struct as_usl_number){mid, fmin(mid, v[n / 40]), fmax(mid, v[n - 1 - n / 40])};
}

/* More than all of it cannot be done in turn, whatever noise says. */
static struct as_usl_number share(struct as_usl_number v)
{
	return (struct as_usl_number){fmin(v.mid, 1), fmin(v.low, 1), fmin(v.high, 1)};
}

static size_t draw(const struct as_usl_point *p, size_t n, double got[NUMBERS][DRAWS])
{
	struct as_usl_point some[AS_USL_MOST];
	struct as_random random;
	size_t m = 0;

	as_random_seed(&random, 1);
	for (size_t d = 0; d < DRAWS; d++) {
		struct terms t;
		double v[NUMBERS];

		for (size_t i = 0; i < n; i++)
			some[i] = p[as_random_next(&random) % n];
		if (!fit(some, n, &t))
			continue;
		numbers_of(&t, v);
		for (size_t k = 0; k < NUMBERS; k++)
			got[k][m] = v[k];
		m++;
	}
	return m;
}

static size_t different(const struct as_usl_point *p, size_t n, double *ret_most)
{
	size_t found = 0;

	*ret_most = 0;
	for (size_t i = 0; i < n; i++) {
		bool new = p[i].n > 0 && p[i].x > 0;

		if (!new)
			return 0;
		for (size_t j = 0; j < i; j++)
			new = new &&fabs(p[j].n / p[i].n - 1) > 0.01;
		found += new;
		*ret_most = fmax(*ret_most, p[i].n);
	}
	return found;
}

bool as_usl_fit(const struct as_usl_point *p, size_t n, struct as_usl *ret)
{
	double v[NUMBERS], got[NUMBERS][DRAWS], most;
	struct terms t;

	if (n > AS_USL_MOST || different(p, n, &most) < AS_USL_LEAST || !fit(p, n, &t))
		return false;
	numbers_of(&t, v);
	size_t m = draw(p, n, got);
	*ret = (struct as_usl){.lambda = interval(v[LAMBDA], got[LAMBDA], m),
			       .sigma = share(interval(v[SIGMA], got[SIGMA], m)),
			       .kappa = interval(v[KAPPA], got[KAPPA], m),
			       .peak_n = interval(v[PEAK_N], got[PEAK_N], m),
			       .peak_x = interval(v[PEAK_X], got[PEAK_X], m),
			       .error = sqrt(t.error / (double)n),
			       .far = v[PEAK_N] > 2 * most};
	return true;
}
