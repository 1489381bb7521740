#include <math.h>

#include "base/human.h"
#include "tui/load_top.h"
#include "tui/pen.h"

enum {
	TALL = 16, /* rows from which there is room for the curves */
	LABEL = 8, /* before a curve or a row of percentiles       */
	CELL = 9,  /* one percentile                               */
};

static struct as_text count(double n)
{
	return isnan(n) ? (struct as_text){"-"} : as_human_count(n);
}

static struct as_text duration(int64_t ns)
{
	return ns < 0 ? (struct as_text){"-"} : as_human_duration(ns);
}

static double now(const struct as_load_top *t, enum as_field_id f)
{
	return t->now[f] == AS_NA ? (double)NAN : (double)t->now[f];
}

/* ── the load ─────────────────────────────────────────────────────────── */

static void put_head(const struct as_load_top *t, struct as_pen *p)
{
	const struct as_load_top_facts *f = &t->facts;

	as_pen_item(p, AS_STRONG, "%.60s", f->url);
	if (f->until_ns > 0)
		as_pen_item(p, AS_PLAIN, "%s of %s", duration(f->t_ns).s, duration(f->until_ns).s);
	else
		as_pen_item(p, AS_PLAIN, "%s", duration(f->t_ns).s);
	if (t->paused)
		as_pen_item(p, AS_ALERT, "paused: the load goes on");
	as_pen_line(p);
}

static void put_requests(const struct as_load_top *t, struct as_pen *p)
{
	const struct as_load_top_facts *f = &t->facts;

	as_pen_item(p, AS_STRONG, "%s%s/s", count(now(t, AS_F_LOAD_REQUESTS)).s,
		    f->flow ? " requests" : "");
	if (f->rate > 0 && !f->flow)
		as_pen_item(p, AS_PLAIN, "of %s/s asked for", count(f->rate).s);
	as_pen_item(p, AS_PLAIN, "%s requests", count((double)f->requests).s);
	if (f->most && !f->flow)
		as_pen_item(p, AS_PLAIN, "of %s", count((double)f->most).s);
	as_pen_item(p, AS_PLAIN, "%s of %s %s wait", count(now(t, AS_F_LOAD_FLIGHT)).s,
		    count((double)f->conns).s, f->flow ? "visitors" : "connections");
	if (f->failed)
		as_pen_item(p, AS_ALERT, "%s failed", count((double)f->failed).s);
	as_pen_line(p);
}

/* What is asked of a flow is sessions, each of which has several requests. */
static void put_sessions(const struct as_load_top *t, struct as_pen *p)
{
	const struct as_load_top_facts *f = &t->facts;

	if (!f->flow)
		return;
	as_pen_item(p, AS_STRONG, "%s sessions/s", count(t->sessions).s);
	if (f->rate > 0)
		as_pen_item(p, AS_PLAIN, "of %s sessions/s asked for", count(f->rate).s);
	as_pen_item(p, AS_PLAIN, "%s sessions", count((double)f->sessions).s);
	if (f->most)
		as_pen_item(p, AS_PLAIN, "of %s", count((double)f->most).s);
	as_pen_line(p);
}

static void put_curves(const struct as_load_top *t, struct as_pen *p)
{
	double p99 = as_trail_most(&t->p99), cores = as_trail_most(&t->cpu);
	char text[32];

	(void)snprintf(text, sizeof text, "%s/s", count(as_trail_most(&t->rate)).s);
	as_pen_curve(p, LABEL, "rate", &t->rate, text);
	as_pen_curve(p, LABEL, "p99", &t->p99, duration(isnan(p99) ? -1 : (int64_t)p99).s);
	if (!t->facts.target)
		return;
	(void)snprintf(text, sizeof text, "%.2f cores", cores);
	as_pen_curve(p, LABEL, "target", &t->cpu, isnan(cores) ? "-" : text);
}

/* ── percentiles ──────────────────────────────────────────────────────── */

static const struct {
	const char *title;
	double q;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

static void put_times(struct as_pen *p, const char *label, const struct as_histogram *h)
{
	(void)as_canvas_put(p->g, p->row, 0, LABEL, AS_FAINT, label);
	for (int i = 0; i < (int)AS_LEN(quantiles); i++)
		(void)as_canvas_right(p->g, p->row, LABEL + i * CELL, CELL, AS_PLAIN,
				      duration(as_histogram_at(h, quantiles[i].q)).s);
	as_pen_line(p);
}

/* Of the last sample only these are kept. */
static void put_recent(const struct as_load_top *t, struct as_pen *p)
{
	static const struct {
		enum as_field_id field;
		int column;
	} known[] = {{AS_F_LOAD_P50, 0}, {AS_F_LOAD_P99, 2}, {AS_F_LOAD_MAX, 4}};

	(void)as_canvas_put(p->g, p->row, 0, LABEL, AS_FAINT, "now");
	for (size_t i = 0; i < AS_LEN(known); i++)
		(void)as_canvas_right(p->g, p->row, LABEL + known[i].column * CELL, CELL, AS_STRONG,
				      duration(t->now[known[i].field]).s);
	as_pen_line(p);
}

static void put_percentiles(const struct as_load_top *t, struct as_pen *p)
{
	as_canvas_paint(p->g, p->row, AS_BAR);
	for (int i = 0; i < (int)AS_LEN(quantiles); i++)
		(void)as_canvas_right(p->g, p->row, LABEL + i * CELL, CELL, AS_BAR,
				      quantiles[i].title);
	as_pen_line(p);
	put_recent(t, p);
	put_times(p, "latency", t->facts.latency);
	put_times(p, "wire", t->facts.wire);
}

static void put_errors(const struct as_load_top *t, struct as_pen *p)
{
	bool any = false;

	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++) {
		if (!t->facts.errors[e])
			continue;
		as_pen_item(p, AS_ALERT, "%s %s", as_load_error_key((enum as_load_error)e),
			    count((double)t->facts.errors[e]).s);
		any = true;
	}
	if (!any)
		as_pen_item(p, AS_FAINT, "no errors");
	as_pen_line(p);
}

/* ── the target ───────────────────────────────────────────────────────── */

static void put_count(struct as_pen *p, double n, const char *what)
{
	as_pen_item(p, AS_PLAIN, "%s %s%s", count(n).s, what,
		    n > 1 || n < 1 || isnan(n) ? "s" : "");
}

static void put_target(const struct as_load_top *t, struct as_pen *p)
{
	double cpu = now(t, AS_F_JOB_CPU), memory = now(t, AS_F_JOB_MEMORY);

	if (!t->facts.target)
		return;
	as_canvas_paint(p->g, p->row, AS_BAR);
	(void)as_canvas_fmt(p->g, p->row, 0, p->g->cols, AS_BAR, "%s (%d)", t->facts.target,
			    t->facts.pid);
	as_pen_line(p);
	if (isnan(now(t, AS_F_JOB_PROCS))) {
		as_pen_item(p, AS_ALERT, "it has ended");
		as_pen_line(p);
		return;
	}
	as_pen_item(p, AS_STRONG, "%s of a core", isnan(cpu) ? "-" : as_human_percent(cpu / 1e9).s);
	as_pen_item(p, AS_PLAIN, "%s memory", isnan(memory) ? "-" : as_human_bytes(memory).s);
	as_pen_item(p, AS_PLAIN, "%s process%s", count(now(t, AS_F_JOB_PROCS)).s,
		    now(t, AS_F_JOB_PROCS) > 1 ? "es" : "");
	put_count(p, now(t, AS_F_JOB_THREADS), "thread");
	put_count(p, now(t, AS_F_JOB_FDS), "open file");
	as_pen_item(p, AS_PLAIN, "%s switches/s", count(now(t, AS_F_JOB_CTX_VOL)).s);
	as_pen_line(p);
}

static void put_generator(const struct as_load_top *t, struct as_pen *p)
{
	double busy = now(t, AS_F_LOAD_CPU) / 1e9;

	as_pen_item(p, busy > 0.85 ? AS_ALERT : AS_FAINT, "generator %s of a core",
		    isnan(busy) ? "-" : as_human_percent(busy).s);
	as_pen_line(p);
}

void as_load_top_draw(const struct as_load_top *t, struct as_canvas *g)
{
	struct as_pen p = {.g = g};

	if (!t->facts.latency)
		return;
	put_head(t, &p);
	put_requests(t, &p);
	put_sessions(t, &p);
	if (g->rows >= TALL)
		put_curves(t, &p);
	put_percentiles(t, &p);
	put_errors(t, &p);
	put_target(t, &p);
	put_generator(t, &p);
	(void)as_canvas_put(g, g->rows - 1, 0, g->cols, AS_FAINT,
			    "q end the load, with its report  p pause the screen");
}
