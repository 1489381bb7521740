/*
 * pstats -- the profile as Python's own profilers keep theirs, for pstats,
 * snakeviz and others: a dictionary of functions, each with how often it was
 * called, its own and its cumulative time, and the same by caller.
 *
 * How often something was called a profile of samples does not know: the
 * samples in which it was seen stand there, as in Python's own sampler.
 */
#include "profile/pstats.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/graph.h"
#include "profile/marshal.h"
#include "profile/tagged.h"

struct writer {
	struct as_graph g;
	struct as_buf *out;
	double scale;                   /* a value in seconds                        */
	size_t time, calls, cumulative; /* kinds; nkinds: there is none of that name */
	size_t samples;
	uint32_t *call; /* those of a callee together                */
};

static void writer_done(struct writer *w)
{
	as_graph_done(&w->g);
	free(w->call);
}

/* ── values ───────────────────────────────────────────────────────────── */

static size_t kind_of(const struct as_profile *p, const char *name)
{
	size_t i = 0;

	while (i < p->nkinds && strcmp(p->kind[i].name, name))
		i++;
	return i;
}

/* What was counted for itself and with what it called. */
static void put_values(struct writer *w, const int64_t *self, const int64_t *total)
{
	size_t none = w->g.p->nkinds;
	int64_t calls = w->calls < none     ? self[w->calls]
			: w->samples < none ? total[w->samples]
					    : 0;
	int64_t below = w->cumulative < none ? self[w->cumulative] : total[w->time];

	as_marshal_put_int(w->out, calls);
	as_marshal_put_int(w->out, calls);
	as_marshal_put_float(w->out, (double)self[w->time] * w->scale);
	as_marshal_put_float(w->out, (double)below * w->scale);
}

static void put_key(struct writer *w, uint32_t function)
{
	const struct as_profile *p = w->g.p;
	const struct as_place *x = &p->place[function];

	as_marshal_put_tuple(w->out, 3);
	as_marshal_put_text(w->out, x->file ? p->text[x->file] : "~");
	as_marshal_put_int(w->out, x->begin > 0 ? x->begin : 0);
	as_marshal_put_text(w->out, function ? p->text[x->function] : "[no stack]");
}

/* What all places of a function had themselves, at its first place. */
static void sum_places(struct as_graph *g)
{
	size_t n = g->p->nkinds;

	for (size_t i = 1; i < g->p->nplaces; i++)
		for (size_t k = 0; k < n && g->of[i] != i; k++)
			g->self[g->of[i] * n + k] =
				as_value_plus(g->self[g->of[i] * n + k], g->self[i * n + k]);
}

/* ── functions ────────────────────────────────────────────────────────── */

static int by_callee(const void *a, const void *b, void *arg)
{
	const struct as_graph *g = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (g->call[x].callee != g->call[y].callee)
		return g->call[x].callee < g->call[y].callee ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_function(struct writer *w, uint32_t function, size_t *call)
{
	const struct as_graph *g = &w->g;

	put_key(w, function);
	as_marshal_put_tuple(w->out, 5);
	put_values(w, as_graph_of(g, g->self, function), as_graph_of(g, g->total, function));
	as_marshal_put_dict(w->out);
	for (; *call < g->ncalls && g->call[w->call[*call]].callee == function; ++*call) {
		uint32_t at = w->call[*call];

		put_key(w, g->call[at].caller);
		as_marshal_put_tuple(w->out, 4);
		put_values(w, as_graph_of(g, g->call_self, at), as_graph_of(g, g->call_total, at));
	}
	as_marshal_put_end(w->out);
}

static void put_all(struct writer *w)
{
	const struct as_graph *g = &w->g;
	size_t call = 0;

	as_marshal_put_dict(w->out);
	for (uint32_t i = 0; i < g->p->nplaces; i++)
		if (g->of[i] == i && (i || as_graph_of(g, g->self, 0)[w->time]))
			put_function(w, i, &call);
	as_marshal_put_end(w->out);
}

/* ── all of it ────────────────────────────────────────────────────────── */

static bool open_writer(struct writer *w, const struct as_profile *p, const struct as_spelling *how)
{
	struct as_err ignored;

	if (as_graph_open(&w->g, p, true, &ignored) < 0)
		return false;
	w->call = as_zalloc_n(w->g.ncalls, sizeof *w->call);
	w->time = how->kind ? how->kind : p->main_kind;
	w->scale = strcmp(p->kind[w->time].unit, "nanoseconds") ? 1 : 1e-9;
	w->calls = kind_of(p, AS_PSTATS_CALLS);
	w->cumulative = kind_of(p, AS_PSTATS_CUMULATIVE);
	w->samples = kind_of(p, "samples");
	for (size_t i = 0; w->call && i < w->g.ncalls; i++)
		w->call[i] = (uint32_t)i;
	return w->call;
}

void as_write_pstats(const struct as_profile *p, const struct as_spelling *how, struct as_buf *out)
{
	as_auto_profile struct as_profile *own = NULL;
	as_cleanup(writer_done) struct writer w = {.out = out};

	p = as_profile_tagged(p, how, &own);
	if (!p || !open_writer(&w, p, how)) {
		out->bad = true;
		return;
	}
	sum_places(&w.g);
	if (w.g.ncalls)
		qsort_r(w.call, w.g.ncalls, sizeof *w.call, by_callee, &w.g);
	put_all(&w);
}
