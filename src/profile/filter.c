#include "profile/filter.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/copy.h"

/* What a place is to the filters, and what a stack has anywhere. */
enum { FOCUS = 1, FROM = 2, SHOWN = 4, HIDDEN = 8, FRAME = 16 };

struct sieve {
	const struct as_profile *p;
	const struct as_profile_filter *f;
	uint8_t *place, *stack; /* of each the bits above                        */
	uint32_t *first;        /* of each stack, the outermost with the focus   */
	bool *wanted;           /* stacks of samples that stay, and their callers */
	uint32_t *became;       /* of each sample its stack, for whoever asked; or NULL */
	struct as_copy copy;
	size_t kind;
};

static void sieve_done(struct sieve *s)
{
	free(s->place);
	free(s->stack);
	free(s->first);
	free(s->wanted);
	as_copy_done(&s->copy);
}

/* ── what matches ─────────────────────────────────────────────────────── */

bool as_place_matches(const struct as_profile *p, uint32_t place, struct as_words words)
{
	const struct as_place *x = &p->place[place];

	for (size_t i = 0; i < words.n; i++)
		if (strstr(p->text[x->function], words.v[i]) ||
		    strstr(p->text[x->file], words.v[i]))
			return true;
	return false;
}

static bool is_focus(const struct sieve *s, uint32_t place)
{
	return s->f->focus && !strcmp(s->p->text[s->p->place[place].function], s->f->focus);
}

static uint8_t bits_of(const struct sieve *s, uint32_t place)
{
	return (uint8_t)((is_focus(s, place) ? FOCUS : 0) |
			 (as_place_matches(s->p, place, s->f->show_from) ? FROM : 0) |
			 (as_place_matches(s->p, place, s->f->show_stacks) ? SHOWN : 0) |
			 (as_place_matches(s->p, place, s->f->hide_stacks) ? HIDDEN : 0) |
			 (as_place_matches(s->p, place, s->f->hide_frames) ? FRAME : 0));
}

/* A caller's number is less than that of what it called, so it is known first. */
static void look(struct sieve *s)
{
	for (uint32_t i = 1; i < s->p->nplaces; i++)
		s->place[i] = bits_of(s, i);
	for (uint32_t i = 1; i < s->p->nstacks; i++) {
		const struct as_stack *at = &s->p->stack[i];

		s->stack[i] = s->stack[at->caller] | s->place[at->place];
		s->first[i] = s->first[at->caller]          ? s->first[at->caller]
			      : s->place[at->place] & FOCUS ? i
							    : 0;
	}
}

/* Has the part of the stack begun that is to be seen? */
static bool begun(const struct sieve *s, uint8_t has)
{
	return (!s->f->focus || has & FOCUS) && (!s->f->show_from.n || has & FROM);
}

static bool stays(const struct sieve *s, uint32_t stack)
{
	uint8_t has = s->stack[stack];

	return begun(s, has) && (!s->f->show_stacks.n || has & SHOWN) && !(has & HIDDEN);
}

/* ── what is left ─────────────────────────────────────────────────────── */

static void want(struct sieve *s)
{
	for (size_t i = 0; i < s->p->nsamples; i++) {
		uint32_t at = s->p->sample[i].stack;

		if (!stays(s, at))
			continue;
		for (; at && !s->wanted[at]; at = s->p->stack[at].caller)
			s->wanted[at] = true;
	}
}

static uint32_t frame(struct sieve *s, uint32_t caller, uint32_t place)
{
	if (s->place[place] & FRAME)
		return caller;
	return as_profile_stack(s->copy.to, caller, as_copy_place(&s->copy, place));
}

static void cut_stacks(struct sieve *s)
{
	for (uint32_t i = 1; i < s->p->nstacks; i++) {
		const struct as_stack *at = &s->p->stack[i];

		if (s->wanted[i] && begun(s, s->stack[i]))
			s->copy.stack[i] = frame(s, s->copy.stack[at->caller], at->place);
	}
}

/* The focus and those that called it, as if they had been called by it. */
static uint32_t callers_of(struct sieve *s, uint32_t stack)
{
	uint32_t *known = &s->copy.stack[s->first[stack]];
	uint32_t to = 0;

	if (*known)
		return *known;
	for (uint32_t at = s->first[stack]; at; at = s->p->stack[at].caller)
		to = frame(s, to, s->p->stack[at].place);
	*known = to;
	return to;
}

static uint32_t stack_of(struct sieve *s, uint32_t stack)
{
	if (!stays(s, stack))
		return AS_NOT_LEFT;
	return s->f->callers ? callers_of(s, stack) : s->copy.stack[stack];
}

static void add_samples(struct sieve *s)
{
	for (size_t i = 0; i < s->p->nsamples; i++) {
		const struct as_sample *x = &s->p->sample[i];
		uint32_t to = stack_of(s, x->stack);

		if (s->became)
			s->became[i] = to;
		if (to != AS_NOT_LEFT)
			as_profile_add(s->copy.to, to, as_copy_tags(&s->copy, x->tags), x->slice,
				       s->f->metric ? &x->v[s->kind] : x->v);
	}
}

/* ── all of it ────────────────────────────────────────────────────────── */

int as_profile_kind(const struct as_profile *p, const char *name, size_t *ret, struct as_err *err)
{
	as_auto_buf struct as_buf known = AS_BUF(AS_BUF_LINE);

	for (size_t i = 0; i < p->nkinds; i++) {
		if (!strcmp(p->kind[i].name, name)) {
			*ret = i;
			return AS_OK;
		}
		as_buf_fmt(&known, "%s%s", i ? ", " : "", p->kind[i].name);
	}
	(void)as_fail(err, AS_EUSAGE, "the profile has no metric '%s'", name);
	return as_hint(err, "it has %s", as_buf_text(&known));
}

static int open_sieve(struct sieve *s, struct as_profile *to, struct as_err *err)
{
	s->place = as_zalloc_n(s->p->nplaces, sizeof *s->place);
	s->stack = as_zalloc_n(s->p->nstacks, sizeof *s->stack);
	s->first = as_zalloc_n(s->p->nstacks, sizeof *s->first);
	s->wanted = as_zalloc_n(s->p->nstacks, sizeof *s->wanted);
	if (!s->place || !s->stack || !s->first || !s->wanted)
		return as_fail(err, AS_ENOMEM, "no memory to filter a profile");
	return as_copy_open(&s->copy, s->p, to, err);
}

static void copy_facts(const struct sieve *s, struct as_profile *to)
{
	const struct as_profile *p = s->p;
	bool turned = s->f->hide_frames.n || s->f->callers; /* another stands last now */

	to->main_kind = s->f->metric ? 0 : p->main_kind;
	to->totals = turned && p->totals ? AS_TOTALS_UNKNOWN : p->totals;
	to->period_ns = p->period_ns;
	to->start_unix_ns = p->start_unix_ns;
	to->duration_ns = p->duration_ns;
	to->slice_ns = p->slice_ns;
	to->taking = p->taking;
}

static int run(struct sieve *s, struct as_profile *to, struct as_err *err)
{
	int r = open_sieve(s, to, err);

	if (r < 0)
		return r;
	look(s);
	want(s);
	if (!s->f->callers)
		cut_stacks(s);
	add_samples(s);
	copy_facts(s, to);
	return as_profile_ok(to, err);
}

bool as_filter_changes(const struct as_profile_filter *f)
{
	return f->metric || f->focus || f->callers || f->show_from.n || f->show_stacks.n ||
	       f->hide_stacks.n || f->hide_frames.n;
}

int as_profile_filtered(const struct as_profile *p, const struct as_profile_filter *f,
			struct as_profile **ret, struct as_err *err)
{
	return as_profile_sifted(p, f, NULL, ret, err);
}

int as_profile_sifted(const struct as_profile *p, const struct as_profile_filter *f,
		      uint32_t *became, struct as_profile **ret, struct as_err *err)
{
	as_cleanup(sieve_done) struct sieve s = {.p = p, .f = f, .became = became};
	int r = AS_OK;

	if (f->callers && !f->focus)
		return as_fail(err, AS_EUSAGE, "--callers of what? It wants --focus FUNCTION");
	if (f->metric)
		r = as_profile_kind(p, f->metric, &s.kind, err);
	if (r < 0)
		return r;
	as_auto_profile struct as_profile *to =
		as_profile_new(&p->kind[s.kind], f->metric ? 1 : p->nkinds, err);
	if (!to)
		return err->code;
	r = run(&s, to, err);
	if (r == AS_OK)
		*ret = as_take(to);
	return r;
}
