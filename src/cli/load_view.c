#include "cli/load_view.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/human.h"

static void write_line(const struct as_drive *d)
{
	const struct as_load_state *s = &d->state;

	(void)fprintf(stderr, "\r\033[K%s  %s requests, %s/s, p99 %s, %s errors",
		      as_human_duration(s->t_ns).s, as_human_count((double)d->all->requests).s,
		      as_human_count((double)d->all->requests * 1e9 / (double)s->t_ns).s,
		      as_human_duration(as_histogram_at(&d->all->latency, 0.99)).s,
		      as_human_count((double)d->all->failed).s);
}

static int on_frame(void *st, const struct as_frame *f, struct as_err *err)
{
	struct as_load_view *v = st;

	(void)err;
	if (f->t_ns < v->next_ns || !v->load->all->requests || !v->load->state.t_ns)
		return AS_OK;
	write_line(v->load);
	v->shown = true;
	v->next_ns = f->t_ns + AS_SECOND;
	return AS_OK;
}

static void wipe(struct as_load_view *v)
{
	if (v->shown)
		(void)fputs("\r\033[K", stderr);
	v->shown = false;
}

static int on_end(void *st, const struct as_outcome *o, const struct as_total *totals,
		  struct as_err *err)
{
	(void)o, (void)totals, (void)err;
	wipe(st);
	return AS_OK;
}

static int on_pause(void *st, struct as_err *err)
{
	(void)err;
	wipe(st);
	return AS_OK;
}

struct as_sink as_load_view_sink(struct as_load_view *v)
{
	static const struct as_sink_ops ops = {.name = "view",
					       .frame = on_frame,
					       .end = on_end,
					       .pause = on_pause};

	v->next_ns = AS_SECOND;
	return (struct as_sink){.ops = &ops, .state = v};
}
