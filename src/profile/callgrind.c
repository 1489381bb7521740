/*
 * callgrind -- the profile as KCachegrind and callgrind_annotate read it: for
 * each function its own cost by line, and for each of its calls the line and
 * what was spent below it.
 *
 * A name is written once, with a number, and by its number from then on. How
 * often something was called a profile of samples does not know: once, unless
 * there is a kind of value named "calls" (callgrind_annotate takes what was
 * never called for a cost of the caller).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/graph.h"
#include "profile/tagged.h"

struct writer {
	struct as_graph g;
	struct as_buf *out;
	const struct as_spelling *how;
	size_t calls;                  /* the kind that counts calls; nkinds: none    */
	bool *named_file, *named_func; /* texts that have been written with a number  */
	uint32_t *place;               /* all places, those of a function together    */
	uint32_t *call;                /* all calls, those of a function together     */
};

static void writer_done(struct writer *w)
{
	as_graph_done(&w->g);
	free(w->named_file);
	free(w->named_func);
	free(w->place);
	free(w->call);
}

/* ── names ────────────────────────────────────────────────────────────── */

/* A text on one line. */
static void put_clean(struct as_buf *out, const char *s)
{
	for (; *s; s++)
		as_buf_byte(out, (unsigned char)*s < 0x20 ? ' ' : *s);
}

static void put_name(struct writer *w, const char *key, bool *named, uint32_t text,
		     const char *unknown)
{
	as_buf_fmt(w->out, "%s=(%u)", key, text + 1);
	if (!named[text]) {
		as_buf_byte(w->out, ' ');
		put_clean(w->out, text ? w->g.p->text[text] : unknown);
	}
	named[text] = true;
	as_buf_byte(w->out, '\n');
}

static void put_function(struct writer *w, const char *file, const char *name, uint32_t place)
{
	const struct as_place *x = &w->g.p->place[place];

	put_name(w, file, w->named_file, x->file, "???");
	put_name(w, name, w->named_func, x->function, "???");
}

/* ── costs ────────────────────────────────────────────────────────────── */

static void put_costs(struct writer *w, uint32_t place, const int64_t *v)
{
	int32_t line = w->how->functions ? w->g.p->place[place].begin : w->g.p->place[place].line;

	as_buf_fmt(w->out, "%d", line > 0 ? line : 0);
	for (size_t i = 0; i < w->g.p->nkinds; i++)
		if (i != w->calls)
			as_buf_fmt(w->out, " %" PRId64, v[i]);
	as_buf_byte(w->out, '\n');
}

static bool is_something(const struct writer *w, const int64_t *v)
{
	for (size_t i = 0; i < w->g.p->nkinds; i++)
		if (v[i] && i != w->calls)
			return true;
	return false;
}

static void put_self(struct writer *w, uint32_t place)
{
	const int64_t *v = as_graph_of(&w->g, w->g.self, place);

	if (is_something(w, v))
		put_costs(w, place, v);
}

static void put_call(struct writer *w, uint32_t at)
{
	const struct as_call *c = &w->g.call[at];
	const int64_t *self = as_graph_of(&w->g, w->g.call_self, at);
	int32_t begin = w->g.p->place[c->callee].begin;

	put_function(w, "cfi", "cfn", c->callee);
	int64_t calls = w->calls < w->g.p->nkinds ? self[w->calls] : 1;
	as_buf_fmt(w->out, "calls=%" PRId64 " %d\n", calls > 0 ? calls : 1, begin > 0 ? begin : 0);
	put_costs(w, c->caller, as_graph_of(&w->g, w->g.call_total, at));
}

/* ── in the order of functions ────────────────────────────────────────── */

static int by_function(const void *a, const void *b, void *arg)
{
	const struct as_graph *g = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (g->of[x] != g->of[y])
		return g->of[x] < g->of[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_caller(const void *a, const void *b, void *arg)
{
	const struct as_graph *g = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t f = g->of[g->call[x].caller], h = g->of[g->call[y].caller];

	if (f != h)
		return f < h ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint32_t *numbers(size_t n)
{
	uint32_t *at = as_zalloc_n(n, sizeof *at);

	for (size_t i = 0; at && i < n; i++)
		at[i] = (uint32_t)i;
	return at;
}

static void put_functions(struct writer *w)
{
	const struct as_graph *g = &w->g;
	bool nowhere = is_something(w, as_graph_of(g, g->self, 0));
	size_t call = 0;

	for (size_t i = !nowhere; i < g->p->nplaces;) {
		uint32_t function = g->of[w->place[i]];

		as_buf_byte(w->out, '\n');
		put_function(w, "fl", "fn", function);
		for (; i < g->p->nplaces && g->of[w->place[i]] == function; i++)
			put_self(w, w->place[i]);
		for (; call < g->ncalls && g->of[g->call[w->call[call]].caller] == function; call++)
			put_call(w, w->call[call]);
	}
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* A kind's name, as an event may be called. */
static void put_event(struct as_buf *out, const char *name)
{
	for (; *name; name++)
		as_buf_byte(out,
			    strchr(" \t:=+*", *name) || (unsigned char)*name < 0x20 ? '_' : *name);
}

static void put_head(struct writer *w)
{
	const struct as_profile *p = w->g.p;

	as_buf_str(w->out, "# callgrind format\nversion: 1\ncreator: assay " ASSAY_VERSION "\n");
	if (p->taking.known) {
		as_buf_str(w->out, "desc: Sampling: ");
		as_put_taking(w->out, &p->taking);
		as_buf_byte(w->out, '\n');
	}
	as_buf_str(w->out, "positions: line\n");
	for (size_t i = 0; i < p->nkinds; i++)
		if (i != w->calls) {
			as_buf_str(w->out, "event: ");
			put_event(w->out, p->kind[i].name);
			as_buf_str(w->out, " : ");
			put_clean(w->out, p->kind[i].name);
			as_buf_str(w->out, " (");
			put_clean(w->out, p->kind[i].unit);
			as_buf_str(w->out, ")\n");
		}
	as_buf_str(w->out, "events:");
	for (size_t i = 0; i < p->nkinds; i++)
		if (i != w->calls) {
			as_buf_byte(w->out, ' ');
			put_event(w->out, p->kind[i].name);
		}
	as_buf_str(w->out, "\nsummary:");
	for (size_t i = 0; i < p->nkinds; i++)
		if (i != w->calls)
			as_buf_fmt(w->out, " %" PRId64, as_profile_total(p, i));
	as_buf_byte(w->out, '\n');
}

static bool open_writer(struct writer *w, const struct as_profile *p)
{
	struct as_err ignored;

	if (as_graph_open(&w->g, p, w->how->functions, &ignored) < 0)
		return false;
	w->named_file = as_zalloc_n(p->ntexts, sizeof *w->named_file);
	w->named_func = as_zalloc_n(p->ntexts, sizeof *w->named_func);
	w->place = numbers(p->nplaces);
	w->call = numbers(w->g.ncalls);
	w->calls = p->nkinds;
	for (size_t i = 0; i < p->nkinds && p->nkinds > 1; i++)
		if (!strcmp(p->kind[i].name, "calls"))
			w->calls = i;
	return w->named_file && w->named_func && w->place && w->call;
}

void as_write_callgrind(const struct as_profile *p, const struct as_spelling *how,
			struct as_buf *out)
{
	as_auto_profile struct as_profile *own = NULL;
	as_cleanup(writer_done) struct writer w = {.out = out, .how = how};

	p = as_profile_tagged(p, how, &own);
	if (!p || !open_writer(&w, p)) {
		out->bad = true;
		return;
	}
	qsort_r(w.place, p->nplaces, sizeof *w.place, by_function, &w.g);
	if (w.g.ncalls)
		qsort_r(w.call, w.g.ncalls, sizeof *w.call, by_caller, &w.g);
	put_head(&w);
	put_functions(&w);
}
