#include "stat/tally.h"

#include <math.h>

struct as_tally as_tally_new(void)
{
	return (struct as_tally){.mean = NAN, .min = NAN, .max = NAN, .last = NAN};
}

static void extremes(struct as_tally *s, double v)
{
	if (!(v >= s->min)) /* also true while min is NaN */
		s->min = v;
	if (!(v <= s->max))
		s->max = v;
	s->last = v;
}

void as_tally_gauge(struct as_tally *s, int64_t t_ns, int64_t v)
{
	s->n++;
	extremes(s, (double)v);
	if (s->open && t_ns > s->t) {
		s->area += ((double)s->v + (double)v) / 2 * (double)(t_ns - s->t);
		s->weight += t_ns - s->t;
	}
	s->t = t_ns;
	s->v = v;
	s->open = true;
	s->mean = s->weight ? s->area / (double)s->weight : (double)v;
}

static double growth(int64_t t0, int64_t v0, int64_t t1, int64_t v1)
{
	return (double)(v1 - v0) / (double)(t1 - t0);
}

/* The final windows, and `r` for the time after them. */
static void show(struct as_tally *s, double r)
{
	s->min = s->low < r ? s->low : r; /* a NaN is never less, nor greater */
	s->max = s->high > r ? s->high : r;
	s->last = r;
}

/* The window before the open one will not be joined to anything any more. */
static void settle(struct as_tally *s)
{
	double r = growth(s->pt, s->pv, s->wt, s->wv);

	if (!(r >= s->low))
		s->low = r;
	if (!(r <= s->high))
		s->high = r;
}

static void rate(struct as_tally *s, int64_t t_ns, int64_t v)
{
	if (t_ns - s->wt < AS_TALLY_WINDOW) {
		show(s,
		     s->windowed ? growth(s->pt, s->pv, t_ns, v) : growth(s->wt, s->wv, t_ns, v));
		return;
	}
	if (s->windowed)
		settle(s);
	s->pt = s->wt;
	s->pv = s->wv;
	s->windowed = true;
	s->wt = t_ns;
	s->wv = v;
	show(s, growth(s->pt, s->pv, t_ns, v));
}

/* A new stretch begins: after the start, or after a gap. */
static void begin(struct as_tally *s, int64_t t_ns, int64_t v)
{
	s->low = s->min; /* what was shown before the gap is final */
	s->high = s->max;
	s->windowed = false;
	s->wt = t_ns;
	s->wv = v;
}

void as_tally_counter(struct as_tally *s, int64_t t_ns, int64_t v)
{
	s->n++;
	if (!s->open) {
		begin(s, t_ns, v);
	} else if (t_ns > s->t) {
		s->area += (double)(v - s->v);
		s->weight += t_ns - s->t;
		s->mean = s->area / (double)s->weight;
		rate(s, t_ns, v);
	}
	s->t = t_ns;
	s->v = v;
	s->open = true;
}

void as_tally_gap(struct as_tally *s)
{
	s->open = false;
}

void as_tally_gauge_stays(struct as_tally *s, int64_t t_ns, uint64_t n)
{
	if (!s->open)
		return;
	as_tally_gauge(s, t_ns, s->v);
	s->n += n - 1;
}

void as_tally_counter_stays(struct as_tally *s, int64_t t_ns, uint64_t n)
{
	int64_t full = s->wt + AS_TALLY_WINDOW;
	uint64_t known = s->n + n;

	if (!s->open)
		return;
	if (full > s->t && full < t_ns)
		as_tally_counter(s, full, s->v);
	as_tally_counter(s, t_ns, s->v);
	s->n = known;
}

int64_t as_tally_time(const struct as_tally *s)
{
	return s->weight;
}

int64_t as_tally_last_time(const struct as_tally *s)
{
	return s->t - (s->windowed ? s->pt : s->wt);
}
