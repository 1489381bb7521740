#include "stat/share.h"

#include <math.h>

/* ── batches ──────────────────────────────────────────────────────────── */

static void join_neighbours(struct as_share *s)
{
	for (size_t i = 0; i < AS_SHARE_BATCHES / 2; i++) {
		s->good[i] = s->good[2 * i] + s->good[2 * i + 1];
		s->n[i] = s->n[2 * i] + s->n[2 * i + 1];
	}
	s->batches = AS_SHARE_BATCHES / 2;
	s->width *= 2;
}

void as_share_add(struct as_share *s, double good, double n)
{
	if (!s->width)
		s->width = 1;
	if (!s->pending && s->batches == AS_SHARE_BATCHES)
		join_neighbours(s);
	if (!s->pending)
		s->good[s->batches] = s->n[s->batches] = 0;
	s->good[s->batches] += good;
	s->n[s->batches] += n;
	if (++s->pending < s->width)
		return;
	s->pending = 0;
	s->batches++;
}

/* ── intervals ────────────────────────────────────────────────────────── */

struct as_share_interval as_share_wilson(double good, double n, double z)
{
	struct as_share_interval nothing = {NAN, NAN, NAN};

	if (!(n > 0))
		return nothing;
	double p = good / n, zz = z * z / n;
	double middle = (p + zz / 2) / (1 + zz);
	double half = z / (1 + zz) * sqrt(p * (1 - p) / n + zz / (4 * n));
	return (struct as_share_interval){p, fmax(middle - half, 0), fmin(middle + half, 1)};
}

/* Student's quantile from the normal one, by Cornish and Fisher; exact enough from 3 on. */
static double student(double z, double degrees)
{
	double z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/* How much more a mean varies when each batch resembles the one before it. */
static double inflation(const double *off, size_t m, double squares)
{
	double together = 0;

	for (size_t i = 1; i < m; i++)
		together += off[i] * off[i - 1];
	double r = squares > 0 ? together / squares : 0;
	if (r > 2 / sqrt((double)m)) /* it does; and short series tell too little of it (Kendall) */
		r += (1 + 3 * r) / (double)m;
	r = fmin(fmax(r, 0), 0.9);
	return (1 + r) / (1 - r);
}

static size_t batches_of(const struct as_share *s)
{
	return s->batches + (s->pending && s->batches < AS_SHARE_BATCHES);
}

static void add_up(const struct as_share *s, double *ret_good, double *ret_n)
{
	*ret_good = *ret_n = 0;
	for (size_t i = 0; i < batches_of(s); i++) {
		*ret_good += s->good[i];
		*ret_n += s->n[i];
	}
}

double as_share_counted(const struct as_share *s)
{
	double good, n;

	add_up(s, &good, &n);
	return n;
}

struct as_share_interval as_share_ratio(const struct as_share *s, double z)
{
	double good, n, squares = 0, off[AS_SHARE_BATCHES];
	size_t m = batches_of(s);
	struct as_share_interval all = {NAN, NAN, NAN};

	add_up(s, &good, &n);
	if (!(n > 0))
		return all;
	all.mid = good / n;
	if (m < 4)
		return all;
	for (size_t i = 0; i < m; i++) {
		off[i] = s->good[i] - all.mid * s->n[i];
		squares += off[i] * off[i];
	}
	double d = (double)m;
	double variance = d / (d - 1) * squares * inflation(off, m, squares) / (n * n);
	double half = student(z, d - 1) * sqrt(variance);
	all.low = all.mid - half;
	all.high = all.mid + half;
	return all;
}

struct as_share_interval as_share_of(const struct as_share *s, double z)
{
	struct as_share_interval by = as_share_ratio(s, z);
	double good, n;

	add_up(s, &good, &n);
	struct as_share_interval w = as_share_wilson(good, n, z);
	if (isnan(by.low))
		return w;
	w.low = fmax(fmin(w.low, by.low), 0);
	w.high = fmin(fmax(w.high, by.high), 1);
	return w;
}
