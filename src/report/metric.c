#include "report/metric.h"

#include <math.h>

/* What is drawn: a gauge that was joined shows its largest. */
static int64_t point(const struct as_series *s, const struct as_metric *m, size_t i)
{
	return as_metric_point(s, m, i, as_fields[m->f[0]].kind == AS_GAUGE);
}

/* ── mean, min, max ───────────────────────────────────────────────────── */

static struct as_spread shown(enum as_field_id f, const struct as_tally *t)
{
	return (struct as_spread){as_tally_shown(f, t->mean), as_tally_shown(f, t->min),
				  as_tally_shown(f, t->max), as_tally_shown(f, t->last)};
}

struct as_spread as_metric_spread(const struct as_run *run, const struct as_metric *m)
{
	const struct as_series *s = as_metric_series(run, m);
	struct as_tally t = as_tally_new();

	if (m->n == 1) {
		const struct as_tally *own = as_run_tally(run, m->f[0], 0);

		return shown(m->f[0], own ? own : &t);
	}
	for (size_t i = 0; s && i < s->n; i++) {
		int64_t v = point(s, m, i);

		if (v == AS_NA)
			as_tally_gap(&t);
		else if (as_fields[m->f[0]].kind == AS_COUNTER)
			as_tally_counter(&t, s->t[i], v);
		else
			as_tally_gauge(&t, s->t[i], v);
	}
	return shown(m->f[0], &t);
}

/* ── drawing ──────────────────────────────────────────────────────────── */

struct canvas {
	double *v;      /* result: sums first, then means */
	double *weight; /* ns known of each part          */
	size_t n;
	int64_t span;
};

static double edge(const struct canvas *c, size_t i)
{
	return (double)c->span * (double)i / (double)c->n;
}

static size_t part_of(const struct canvas *c, int64_t t)
{
	size_t i = (size_t)((double)t / (double)c->span * (double)c->n);

	return i < c->n ? i : c->n - 1;
}

/* A constant rate from t0 to t1: each part gets its share. */
static void lay_rate(struct canvas *c, int64_t t0, int64_t t1, double rate)
{
	t0 = t0 < 0 ? 0 : t0;
	for (size_t i = part_of(c, t0); t1 > t0 && i <= part_of(c, t1); i++) {
		double from = fmax(edge(c, i), (double)t0), to = fmin(edge(c, i + 1), (double)t1);

		if (to <= from)
			continue;
		c->v[i] += rate * (to - from);
		c->weight[i] += to - from;
	}
}

static double between(int64_t t0, double v0, int64_t t1, double v1, double t)
{
	return t1 > t0 ? v0 + (v1 - v0) * (t - (double)t0) / (double)(t1 - t0) : v1;
}

/* A straight line from (t0, v0) to (t1, v1): each part keeps the largest it sees. */
static void lay_gauge(struct canvas *c, int64_t t0, double v0, int64_t t1, double v1)
{
	t0 = t0 < 0 ? 0 : t0;
	for (size_t i = part_of(c, t0); t1 >= t0 && i <= part_of(c, t1); i++) {
		double from = fmax(edge(c, i), (double)t0), to = fmin(edge(c, i + 1), (double)t1);
		double most = fmax(between(t0, v0, t1, v1, from), between(t0, v0, t1, v1, to));

		if (c->weight[i] == 0 || most > c->v[i])
			c->v[i] = most;
		c->weight[i] = 1;
	}
}

/* A window of a counter, from one sample to a later one. */
struct window {
	int64_t t0, v0, t1, v1;
	bool open;
};

static void lay_window(struct canvas *c, const struct window *w)
{
	if (w->open && w->t1 > w->t0)
		lay_rate(c, w->t0, w->t1, (double)(w->v1 - w->v0) / (double)(w->t1 - w->t0));
}

/*
 * Samples fill the window `w`; a full one waits in `ready` until the next is
 * full too, so that a short rest at the end can still join it.
 */
static void counter_gap(struct canvas *c, struct window *ready, struct window *w)
{
	if (ready->open && w->open) {
		ready->t1 = w->t1;
		ready->v1 = w->v1;
	}
	lay_window(c, ready->open ? ready : w);
	ready->open = w->open = false;
}

static void draw_counter(struct canvas *c, const struct as_series *s, const struct as_metric *m)
{
	struct window ready = {0}, w = {0};

	for (size_t i = 0; i < s->n; i++) {
		int64_t v = point(s, m, i), t = s->t[i];

		if (v == AS_NA) {
			counter_gap(c, &ready, &w);
			continue;
		}
		if (!w.open)
			w = (struct window){t, v, t, v, true};
		w.t1 = t;
		w.v1 = v;
		if (w.t1 - w.t0 >= AS_TALLY_WINDOW) {
			lay_window(c, &ready);
			ready = w;
			w = (struct window){t, v, t, v, true};
		}
	}
	counter_gap(c, &ready, &w);
}

static void draw_gauge(struct canvas *c, const struct as_series *s, const struct as_metric *m)
{
	int64_t t0 = 0, v0 = AS_NA;

	for (size_t i = 0; i < s->n; i++) {
		int64_t v = point(s, m, i), t = s->t[i];

		if (v != AS_NA)
			lay_gauge(c, v0 == AS_NA ? t : t0, (double)(v0 == AS_NA ? v : v0), t,
				  (double)v);
		t0 = t;
		v0 = v;
	}
}

bool as_metric_draw(const struct as_run *run, const struct as_metric *m, double *v, size_t n)
{
	double weight[AS_PARTS_MAX] = {0};
	const struct as_series *s = as_metric_series(run, m);
	struct canvas c = {v, weight, n, as_run_span(run)};
	bool counter = as_fields[m->f[0]].kind == AS_COUNTER, any = false;

	for (size_t i = 0; i < n; i++)
		v[i] = 0;
	if (s && counter)
		draw_counter(&c, s, m);
	else if (s)
		draw_gauge(&c, s, m);
	for (size_t i = 0; i < n; i++) {
		bool seen = weight[i] > 0;

		any |= seen;
		v[i] = !seen ? (double)NAN
			     : as_tally_shown(m->f[0], counter ? v[i] / weight[i] : v[i]);
	}
	return any;
}

/* ── the machine ──────────────────────────────────────────────────────── */

static const struct as_metric rest = {{AS_F_SYS_IDLE, AS_F_SYS_IOWAIT}, 2};
static const struct as_metric work = {{AS_F_SYS_USER, AS_F_SYS_SYSTEM}, 2};
static const struct as_metric steal = {{AS_F_SYS_STEAL}, 1};

/* Busy and all CPU time so far at point i; false when it is unknown. */
static bool machine(const struct as_series *s, size_t i, double *ret_busy, double *ret_all)
{
	int64_t idle = point(s, &rest, i), busy = point(s, &work, i), taken = point(s, &steal, i);

	if (idle == AS_NA || busy == AS_NA)
		return false;
	*ret_busy = (double)busy + (taken == AS_NA ? 0 : (double)taken);
	*ret_all = *ret_busy + (double)idle;
	return true;
}

struct as_spread as_system_busy(const struct as_run *run)
{
	const struct as_series *s = run->series[AS_SYSTEM];
	struct as_spread r = {NAN, NAN, NAN, NAN};
	double b0 = NAN, a0 = NAN; /* where the window began */
	double first_b = NAN, first_a = NAN, b1, a1;
	int64_t t0 = 0;

	for (size_t i = 0; s && i < s->n; i++) {
		if (!machine(s, i, &b1, &a1))
			continue;
		if (isnan(a0)) {
			first_b = b1;
			first_a = a1;
		} else if (a1 > a0) {
			r.mean = (b1 - first_b) / (a1 - first_a);
			if (s->t[i] - t0 < AS_TALLY_WINDOW && (i + 1 < s->n || !isnan(r.last)))
				continue; /* too short to tell, and not all there is */
			r.last = (b1 - b0) / (a1 - a0);
			r.min = fmin(r.min, r.last);
			r.max = fmax(r.max, r.last);
		}
		b0 = b1;
		a0 = a1;
		t0 = s->t[i];
	}
	return r;
}
