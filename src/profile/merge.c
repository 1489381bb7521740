#include "profile/merge.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/copy.h"

struct as_profile *as_profile_like(const struct as_profile *p, struct as_err *err)
{
	struct as_profile *like = as_profile_new(p->kind, p->nkinds, err);

	if (!like)
		return NULL;
	like->main_kind = p->main_kind;
	like->totals = p->totals;
	like->period_ns = p->period_ns;
	like->start_unix_ns = p->start_unix_ns;
	like->slice_ns = p->slice_ns;
	return like;
}

/* ── numbers of one profile as numbers of another ─────────────────────── */

enum { NO_KIND = AS_VALUES_MAX };

/* NEEDED: some sample has it, and its number there is not known yet. */
enum { NEEDED = UINT32_MAX };

struct graft {
	struct as_copy copy; /* of its stacks, 0: nobody needs it */
	size_t kind[AS_VALUES_MAX];
};

/* A caller's number is less than the number of what it called: one pass finds them all. */
static void take_stacks(struct as_copy *c)
{
	const struct as_profile *from = c->from;

	for (size_t i = 0; i < from->nsamples; i++)
		for (uint32_t s = from->sample[i].stack; s && !c->stack[s];
		     s = from->stack[s].caller)
			c->stack[s] = NEEDED;
	for (uint32_t s = 1; s < from->nstacks; s++)
		if (c->stack[s] == NEEDED)
			c->stack[s] = as_profile_stack(c->to, c->stack[from->stack[s].caller],
						       as_copy_place(c, from->stack[s].place));
}

static void graft_done(struct graft *g)
{
	as_copy_done(&g->copy);
}

static void match_kinds(struct graft *g)
{
	for (size_t i = 0; i < g->copy.from->nkinds; i++) {
		g->kind[i] = NO_KIND;
		for (size_t k = 0; k < g->copy.to->nkinds; k++)
			if (!strcmp(g->copy.from->kind[i].name, g->copy.to->kind[k].name))
				g->kind[i] = k;
	}
}

/* The slice in which the beginning of that of `from` lies. */
static uint32_t slice_there(const struct graft *g, uint32_t slice)
{
	const struct as_profile *into = g->copy.to, *from = g->copy.from;
	int64_t later, t;

	if (!into->slice_ns)
		return 0;
	if (__builtin_sub_overflow(from->start_unix_ns, into->start_unix_ns, &later) ||
	    __builtin_mul_overflow(from->slice_ns, (int64_t)slice, &t) ||
	    __builtin_add_overflow(t, later, &t) || t < 0)
		return 0;
	return t / into->slice_ns < UINT32_MAX ? (uint32_t)(t / into->slice_ns) : UINT32_MAX;
}

static void take_sample(struct graft *g, const struct as_sample *s)
{
	int64_t v[AS_VALUES_MAX] = {0};

	for (size_t i = 0; i < g->copy.from->nkinds; i++)
		if (g->kind[i] != NO_KIND)
			v[g->kind[i]] = s->v[i];
	as_profile_add(g->copy.to, g->copy.stack[s->stack], as_copy_tags(&g->copy, s->tags),
		       slice_there(g, s->slice), v);
}

/* Until the later of both ends. */
static void take_duration(struct as_profile *into, const struct as_profile *from)
{
	int64_t end;

	if (__builtin_sub_overflow(from->start_unix_ns, into->start_unix_ns, &end) ||
	    __builtin_add_overflow(end, from->duration_ns, &end))
		return;
	if (end > into->duration_ns)
		into->duration_ns = end;
}

/* What has no samples yet takes it as it is. */
static void take_taking(struct as_profile *into, const struct as_profile *from)
{
	bool first = !into->nsamples && !into->taking.known;

	into->taking = first ? from->taking : as_taking_sum(&into->taking, &from->taking);
}

void as_profile_merge(struct as_profile *into, const struct as_profile *from)
{
	as_cleanup(graft_done) struct graft g = {.kind = {0}};
	struct as_err ignored;

	into->bad |= from->bad || as_copy_open(&g.copy, from, into, &ignored) < 0;
	if (into->bad)
		return;
	take_taking(into, from);
	match_kinds(&g);
	take_stacks(&g.copy);
	for (size_t i = 0; i < from->nsamples; i++)
		take_sample(&g, &from->sample[i]);
	take_duration(into, from);
}

/* ── samples and their slices ─────────────────────────────────────────── */

void as_profile_clear(struct as_profile *p)
{
	p->nsamples = 0;
	as_index_clear(&p->by_sample);
}

/* In place, as join_slices() does it. */
void as_profile_drop(struct as_profile *p,
		     bool (*gone)(const void *context, const struct as_sample *s),
		     const void *context)
{
	size_t n = p->nsamples;

	as_profile_clear(p);
	for (size_t i = 0; i < n; i++) {
		struct as_sample s = p->sample[i];

		if (!gone(context, &s))
			as_profile_add(p, s.stack, s.tags, s.slice, s.v);
	}
}

size_t as_profile_slices(const struct as_profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nsamples; i++)
		if (p->sample[i].slice >= n)
			n = (size_t)p->sample[i].slice + 1;
	return n;
}

/* In place: there are never more of the new ones than of the old ones that were taken. */
static void join_slices(struct as_profile *p)
{
	size_t n = p->nsamples;

	as_profile_clear(p);
	for (size_t i = 0; i < n; i++) {
		struct as_sample s = p->sample[i];

		as_profile_add(p, s.stack, s.tags, s.slice / 2, s.v);
	}
	p->slice_ns *= 2;
}

void as_profile_lengthen(struct as_profile *p, int64_t slice_ns)
{
	while (p->slice_ns && !p->bad && p->slice_ns < slice_ns)
		join_slices(p);
}

void as_profile_coarsen(struct as_profile *p, size_t most)
{
	while (p->slice_ns && !p->bad && as_profile_slices(p) > most)
		join_slices(p);
}
