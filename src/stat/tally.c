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

/* The rate since the window began, as far as it may be shown. */
static void rate(struct as_tally *s, int64_t t_ns, int64_t v)
{
	int64_t span = t_ns - s->wt;
	double r = (double)(v - s->wv) / (double)span;

	if (span >= AS_TALLY_WINDOW) {
		if (!s->windowed)
			s->min = s->max = NAN;
		s->windowed = true;
		extremes(s, r);
		s->wt = t_ns;
		s->wv = v;
	} else if (!s->windowed) {
		s->min = s->max = s->last = r; /* all there is so far */
	}
}

void as_tally_counter(struct as_tally *s, int64_t t_ns, int64_t v)
{
	s->n++;
	if (!s->open) {
		s->wt = t_ns;
		s->wv = v;
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
