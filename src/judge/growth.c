#include "judge/growth.h"

#include <math.h>
#include <stdlib.h>

#include "stat/theilsen.h"

/* Seconds after the first tenth. In less, loading and leaking look the same. */
static const double SPAN_MIN = 50;
/* Growth that matters: a hundredth of what the job uses, and a MiB. */
static const double MATTERS = 0.01, MATTERS_BYTES = 1 << 20;
/* Over its own ups and downs, from the first to the last tenth of them. */
static const double OVER_NOISE = 1.5;
/* What each half must show of the whole slope. */
static const double HALF_SHARE = 0.25;

enum { POINTS_MIN = 60, POINTS_MAX = 256 };

struct points {
	double t[POINTS_MAX], y[POINTS_MAX];
	size_t n;
};

/* ── the points ───────────────────────────────────────────────────────── */

static int64_t cell(const struct as_series *s, size_t i)
{
	return as_row_at(s->mean + i * as_scope_info(s->scope)->n, AS_F_JOB_MEMORY);
}

/* Where the first tenth of the run is over. */
static size_t warm(const struct as_series *s)
{
	size_t i = 0;

	while (i < s->n && s->t[i] < s->t[s->n - 1] / 10)
		i++;
	return i;
}

/* So many that neighbours must be joined are joined: the slope is the same, and cheaper. */
static void take(const struct as_series *s, struct points *p)
{
	size_t from = warm(s), known = 0;

	for (size_t i = from; i < s->n; i++)
		known += cell(s, i) != AS_NA;
	size_t step = (known + POINTS_MAX - 1) / POINTS_MAX, in = 0;
	double t = 0, y = 0;
	for (size_t i = from; i < s->n; i++) {
		if (cell(s, i) == AS_NA)
			continue;
		t += (double)s->t[i] / 1e9;
		y += (double)cell(s, i);
		if (++in < step)
			continue;
		p->t[p->n] = t / (double)step;
		p->y[p->n++] = y / (double)step;
		t = y = 0;
		in = 0;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What is left of the points without the slope: its q-quantiles from below and from above. */
static double spread(const struct points *p, double slope, double q)
{
	double v[POINTS_MAX];
	size_t at = (size_t)(q * (double)(p->n - 1));

	for (size_t i = 0; i < p->n; i++)
		v[i] = p->y[i] - slope * p->t[i];
	qsort(v, p->n, sizeof *v, by_value);
	return v[p->n - 1 - at] - v[at];
}

static double typical(const struct points *p)
{
	double v[POINTS_MAX];

	for (size_t i = 0; i < p->n; i++)
		v[i] = p->y[i];
	qsort(v, p->n, sizeof *v, by_value);
	return v[p->n / 2];
}

/* ── the answer ───────────────────────────────────────────────────────── */

static bool in_both_halves(const struct points *p, double slope)
{
	size_t half = p->n / 2;
	double first = as_theilsen(p->t, p->y, half).mid;
	double second = as_theilsen(p->t + half, p->y + half, p->n - half).mid;

	return first >= HALF_SHARE * slope && second >= HALF_SHARE * slope;
}

static void answer(const struct points *p, struct as_growth *g)
{
	double grown = g->rate * g->span, matters = fmax(MATTERS * typical(p), MATTERS_BYTES);

	g->why = "";
	if (g->low > 0 && grown > matters && grown >= OVER_NOISE * spread(p, g->rate, 0.1) &&
	    in_both_halves(p, g->rate))
		g->answer = AS_GROWTH_ALARM;
	else if (g->high * g->span <= 2 * matters)
		g->answer = AS_GROWTH_NONE;
	else
		g->why = g->low > 0 ? "it grew, but not steadily" : "too noisy for its length";
}

static void project(const struct as_run *run, const struct points *p, struct as_growth *g)
{
	if (run->who.memory == AS_NA || run->who.memory <= 0)
		return;
	g->limit = (double)run->who.memory;
	if (g->answer == AS_GROWTH_ALARM)
		g->left = fmax(0, g->limit - p->y[p->n - 1]) / g->rate;
}

struct as_growth as_growth_of(const struct as_run *run)
{
	const struct as_series *s = run->series[AS_JOB];
	struct as_growth g = {AS_GROWTH_UNKNOWN, "too short", NAN, NAN, NAN, NAN, NAN, NAN};
	struct points p = {.n = 0};

	if (s && s->n)
		take(s, &p);
	if (p.n)
		g.span = p.t[p.n - 1] - p.t[0];
	if (p.n < POINTS_MIN || !(g.span >= SPAN_MIN))
		return g;
	struct as_slope m = as_theilsen(p.t, p.y, p.n);
	g.rate = m.mid;
	g.low = m.low;
	g.high = m.high;
	answer(&p, &g);
	project(run, &p, &g);
	return g;
}

const char *as_growth_name(enum as_growth_answer answer)
{
	static const char *const names[] = {
#define X(id, name) [AS_##id] = name,
		AS_GROWTHS(X)
#undef X
	};

	return names[answer];
}
