#include "cli/load_view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"

/* ── the line ─────────────────────────────────────────────────────────── */

static void write_line(const struct as_drive *d, bool flow)
{
	const struct as_load_state *s = &d->state;
	char sessions[sizeof(struct as_text) + 16] = "";

	if (flow)
		(void)snprintf(sessions, sizeof sessions, ", %s sessions",
			       as_human_count((double)s->sessions).s);
	(void)fprintf(stderr, "\r\033[K%s  %s requests, %s/s%s, p99 %s, %s errors",
		      as_human_duration(s->t_ns).s, as_human_count((double)d->all->requests).s,
		      as_human_count((double)d->all->requests * 1e9 / (double)s->t_ns).s, sessions,
		      as_human_duration(as_histogram_at(&d->all->latency, 0.99)).s,
		      as_human_count((double)d->all->failed).s);
}

static void renew_line(struct as_load_view *v, int64_t t_ns)
{
	if (t_ns < v->next_ns || !v->load->all->requests || !v->load->state.t_ns)
		return;
	write_line(v->load, v->plan.flow);
	v->shown = true;
	v->next_ns = t_ns + AS_SECOND;
}

static void wipe_line(struct as_load_view *v)
{
	if (v->shown)
		(void)fputs("\r\033[K", stderr);
	v->shown = false;
}

/* ── the screen ───────────────────────────────────────────────────────── */

static void draw(struct as_load_view *v)
{
	as_load_top_draw(&v->top, as_screen_blank(&v->screen));
	as_screen_show(&v->screen);
}

static void tick(struct as_load_view *v, const struct as_frame *f)
{
	const struct as_drive *d = v->load;
	struct as_load_top_facts now = v->plan;

	now.t_ns = d->state.t_ns;
	now.requests = d->all->requests;
	now.sessions = d->state.sessions;
	now.failed = d->all->failed;
	memcpy(now.errors, d->state.errors, sizeof now.errors);
	now.latency = &d->all->latency;
	now.wire = &d->all->wire;
	as_load_top_tick(&v->top, &now, f);
	if (!v->top.paused)
		draw(v);
}

static void heard(void *arg)
{
	struct as_load_view *v = arg;

	for (int key; (key = v->screen.ops->key(v->screen.terminal)) != AS_KEY_NONE;)
		if (!as_load_top_key(&v->top, key))
			as_drive_stop(v->load);
	draw(v);
}

/* ── as the engine sees it ────────────────────────────────────────────── */

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_load_view *v = st;

	(void)err;
	if (v->screen.terminal)
		tick(v, f);
	else
		renew_line(v, f->t_ns);
	return AS_OK;
}

static int on_end(void *st, const struct as_outcome *o, const struct as_total *totals,
		  struct as_err *err)
{
	(void)o, (void)totals, (void)err;
	as_load_view_done(st);
	return AS_OK;
}

static int on_pause(void *st, struct as_err *err)
{
	struct as_load_view *v = st;

	(void)err;
	if (v->screen.terminal)
		v->screen.ops->leave(v->screen.terminal);
	wipe_line(v);
	return AS_OK;
}

struct as_sink as_load_view_sink(struct as_load_view *v)
{
	static const struct as_sink_ops ops = {.name = "view",
					       .frame = on_frame,
					       .end = on_end,
					       .pause = on_pause};

	return (struct as_sink){.ops = &ops, .state = v};
}

const struct as_ear *as_load_view_ear(const struct as_load_view *v)
{
	return v->screen.terminal ? &v->ear : NULL;
}

/* Whatever speaks against a screen, there is the line. */
void as_load_view_open(struct as_load_view *v, bool full)
{
	struct as_err why;

	v->next_ns = AS_SECOND;
	v->top = as_load_top_new();
	v->ear = (struct as_ear){.fd = STDIN_FILENO, .heard = heard, .arg = v};
	if (full && as_screen_there() && as_terminal_load(&v->screen.ops, &why) == AS_OK)
		(void)as_screen_open(&v->screen, &why);
}

void as_load_view_done(struct as_load_view *v)
{
	as_screen_close(&v->screen);
	wipe_line(v);
}
