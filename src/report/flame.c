#include "report/flame.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"
#include "report/amount.h"

/* ── boxes, each once ─────────────────────────────────────────────────── */

struct maker {
	struct as_flame *f;
	struct as_index index;
	uint32_t *same;  /* of each place: the place that stands for it */
	uint32_t *frame; /* of the stack at hand: places, outermost first */
	size_t frame_cap;
	double scale; /* of what came after, so that both are as wide */
};

struct key {
	uint32_t caller, place;
};

static bool same_box(const void *owner, uint32_t at, const void *key)
{
	const struct as_flame *f = owner;
	const struct key *k = key;

	return f->box[at].caller == k->caller && f->box[at].place == k->place;
}

/* The box of this place on its caller's; AS_NOWHERE: no memory. */
static uint32_t box_on(struct maker *m, uint32_t caller, uint32_t place)
{
	struct as_flame *f = m->f;
	struct key key = {caller, place};
	uint32_t hash = as_hash(0, &key, sizeof key);
	uint32_t at = as_index_find(&m->index, hash, same_box, f, &key);

	if (at != AS_NOWHERE)
		return at;
	if (f->n >= AS_NOWHERE || !as_grow(&f->box, &f->cap, f->n, sizeof *f->box, 256) ||
	    !as_index_add(&m->index, hash, (uint32_t)f->n))
		return AS_NOWHERE;
	f->box[f->n] = (struct as_flame_box){.caller = caller,
					     .place = place,
					     .depth = f->n ? f->box[caller].depth + 1 : 0};
	return (uint32_t)f->n++;
}

static int64_t not_less(int64_t v)
{
	return v > 0 ? v : 0;
}

/* ── the stack of a sample ────────────────────────────────────────────── */

static bool frames_of(struct maker *m, const struct as_sample *s, size_t *ret_n)
{
	const struct as_profile *p = m->f->p;
	size_t n = as_profile_places(p, s->stack, NULL, 0);

	for (size_t have = m->frame_cap; have < n + 1; have = m->frame_cap)
		if (!as_grow(&m->frame, &m->frame_cap, have, sizeof *m->frame, 64))
			return false;
	(void)as_profile_places(p, s->stack, m->frame, n);
	*ret_n = n;
	return true;
}

static void add_values(struct maker *m, struct as_flame_box *b, const struct as_sample *s,
		       int64_t v)
{
	const struct as_flame *f = m->f;

	b->self = as_value_plus(b->self, v);
	if (f->how->with)
		b->with = as_value_plus(b->with, s->v[f->how->with - 1]);
	if (!f->compares)
		return;
	b->before = as_value_plus(b->before, not_less(s->v[f->before]));
	b->after = as_value_plus(b->after, not_less(s->v[f->after]));
}

static int64_t width_of(const struct maker *m, const struct as_sample *s)
{
	const struct as_flame *f = m->f;

	if (!f->compares)
		return not_less(s->v[f->how->spell.kind]);
	double after = round((double)not_less(s->v[f->after]) * m->scale);
	return as_value_plus(not_less(s->v[f->before]), after < 9e18 ? (int64_t)after : INT64_MAX);
}

static bool add_sample(struct maker *m, const struct as_sample *s)
{
	const struct as_flame_how *how = m->f->how;
	int64_t v = width_of(m, s);
	uint32_t at = 0;
	size_t n = 0;

	if (!v)
		return true;
	if (!frames_of(m, s, &n))
		return false;
	if (how->spell.tags && s->tags)
		at = box_on(m, at, (uint32_t)m->f->p->nplaces + s->tags);
	for (size_t i = 0; i < n && at != AS_NOWHERE; i++)
		at = box_on(m, at, m->same[m->frame[how->reverse ? n - 1 - i : i]]);
	if (at == AS_NOWHERE)
		return false;
	add_values(m, &m->f->box[at], s, v);
	return true;
}

/* ── all of it ────────────────────────────────────────────────────────── */

/* What a box called counts for it too. A box has a larger number than its caller. */
static void add_up(struct as_flame *f)
{
	for (size_t i = 0; i < f->n; i++)
		f->box[i].total = f->box[i].self;
	for (size_t i = f->n; i-- > 1;) {
		struct as_flame_box *b = &f->box[i], *caller = &f->box[b->caller];

		caller->total = as_value_plus(caller->total, b->total);
		caller->with = as_value_plus(caller->with, b->with);
		caller->before = as_value_plus(caller->before, b->before);
		caller->after = as_value_plus(caller->after, b->after);
	}
}

/* From the innermost frame: what that one has in itself is all that stands on it. */
static void of_innermost(struct as_flame *f)
{
	for (size_t i = 1; i < f->n; i++) {
		struct as_flame_box *b = &f->box[i];
		bool inner = !b->caller || f->box[b->caller].place >= f->p->nplaces;

		if (b->place < f->p->nplaces)
			b->self = inner ? b->total : 0;
	}
}

static const char *name_of(const struct as_flame *f, const struct as_flame_box *b)
{
	const struct as_profile *p = f->p;

	return b->place < p->nplaces ? p->text[p->place[b->place].function] : "";
}

/* By caller; of one caller the widest first, then by name. */
static int in_order(const void *a, const void *b, void *st)
{
	const struct as_flame *f = st;
	const struct as_flame_box *x = &f->box[*(const uint32_t *)a],
				  *y = &f->box[*(const uint32_t *)b];

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	int names = strcmp(name_of(f, x), name_of(f, y));
	return names ? names : (x->place > y->place) - (x->place < y->place);
}

/* Side by side, from where their caller begins. */
static bool put_side_by_side(struct as_flame *f)
{
	as_auto_free uint32_t *order = as_zalloc_n(f->n, sizeof *order);
	uint32_t caller = AS_NOWHERE;
	int64_t at = 0;

	if (!order)
		return false;
	for (uint32_t i = 0; i < f->n; i++)
		order[i] = i;
	qsort_r(order + 1, f->n - 1, sizeof *order, in_order, f);
	for (size_t i = 1; i < f->n; i++) {
		struct as_flame_box *b = &f->box[order[i]];

		at = b->caller == caller ? at : f->box[b->caller].at;
		caller = b->caller;
		b->at = at;
		at = as_value_plus(at, b->total);
	}
	return true;
}

static double scale_of(const struct as_flame *f)
{
	double before = 0, after = 0;

	for (size_t i = 0; f->compares && i < f->p->nsamples; i++) {
		before += (double)not_less(f->p->sample[i].v[f->before]);
		after += (double)not_less(f->p->sample[i].v[f->after]);
	}
	return before > 0 && after > 0 ? before / after : 1;
}

static bool make(struct maker *m)
{
	const struct as_profile *p = m->f->p;

	if (!m->same || box_on(m, 0, AS_NOWHERE) == AS_NOWHERE)
		return false;
	for (uint32_t i = 0; !m->f->how->spell.functions && i < p->nplaces; i++)
		m->same[i] = i;
	for (size_t i = 0; i < p->nsamples; i++)
		if (!add_sample(m, &p->sample[i]))
			return false;
	add_up(m->f);
	if (m->f->how->reverse)
		of_innermost(m->f);
	return put_side_by_side(m->f);
}

int as_flame_make(const struct as_profile *p, const struct as_flame_how *how, struct as_flame *ret,
		  struct as_err *err)
{
	struct as_flame f = {.p = p, .how = how};
	struct maker m = {.f = &f, .same = as_profile_functions(p)};

	f.compares = as_profile_compares(p, &f.before, &f.after);
	m.scale = scale_of(&f);
	bool made = make(&m);
	free(m.same);
	free(m.frame);
	as_index_done(&m.index);
	if (!made) {
		as_flame_done(&f);
		return as_fail(err, AS_ENOMEM, "no memory for a flame graph");
	}
	*ret = f;
	return AS_OK;
}

void as_flame_done(struct as_flame *f)
{
	free(f->box);
	*f = (struct as_flame){0};
}

/* ── what is said of a box ────────────────────────────────────────────── */

double as_flame_changed(const struct as_flame *f, const struct as_flame_box *b)
{
	const double much = 0.005; /* of the whole: less than this is paler */
	double before = f->box->before ? (double)b->before / (double)f->box->before : 0;
	double after = f->box->after ? (double)b->after / (double)f->box->after : 0;
	double larger = fmax(before, after);

	return larger > 0 ? (after - before) / larger * fmin(1, fabs(after - before) / much) : 0;
}

static void put_tags(struct as_buf *out, const struct as_profile *p, const struct as_tags *tags)
{
	for (size_t i = 0; i < tags->n; i++) {
		const struct as_tag *t = &tags->at[i];

		as_buf_fmt(out, "%s%s ", i ? ", " : "", p->text[t->key]);
		if (t->text)
			as_buf_str(out, p->text[t->text]);
		else
			as_buf_fmt(out, "%" PRId64, t->number);
	}
}

void as_put_flame_label(struct as_buf *out, const struct as_flame *f, const struct as_flame_box *b)
{
	if (b == f->box)
		as_buf_str(out, "all");
	else if (b->place >= f->p->nplaces)
		put_tags(out, f->p, &f->p->tags[b->place - f->p->nplaces]);
	else
		as_spell_place(f->p, b->place, &f->how->spell, out);
}
