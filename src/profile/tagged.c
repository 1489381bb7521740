#include "profile/tagged.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/copy.h"
#include "profile/merge.h"

/* The frame of a tag below another. */
static uint32_t frame_of(struct as_copy *c, const struct as_tag *t, uint32_t caller)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	const struct as_profile *p = c->from;

	if (t->text)
		as_buf_fmt(&b, "%s %s", p->text[t->key], p->text[t->text]);
	else
		as_buf_fmt(&b, "%s %" PRId64, p->text[t->key], t->number);
	c->to->bad |= b.bad;
	const struct as_place place = {as_profile_text(c->to, as_buf_text(&b), b.len)};
	return as_profile_stack(c->to, caller, as_profile_place(c->to, place));
}

static uint32_t root_of(struct as_copy *c, uint32_t tags)
{
	const struct as_tags *x = &c->from->tags[tags];
	uint32_t at = 0;

	for (size_t i = 0; i < x->n; i++)
		at = frame_of(c, &x->at[i], at);
	return at;
}

static void add_sample(struct as_copy *c, const struct as_sample *s)
{
	size_t n = as_profile_places(c->from, s->stack, NULL, 0);
	as_auto_free uint32_t *place = as_zalloc_n(n, sizeof *place);

	c->to->bad |= !place;
	if (!place)
		return;
	(void)as_profile_places(c->from, s->stack, place, n);
	if (!c->tags[s->tags])
		c->tags[s->tags] = root_of(c, s->tags);
	uint32_t at = c->tags[s->tags];
	for (size_t i = 0; i < n; i++)
		at = as_profile_stack(c->to, at, as_copy_place(c, place[i]));
	as_profile_add(c->to, at, 0, s->slice, s->v);
}

const struct as_profile *as_profile_tagged(const struct as_profile *p,
					   const struct as_spelling *how,
					   struct as_profile **ret_own)
{
	struct as_err ignored;
	as_auto_copy struct as_copy c = {0};

	if (!how->tags)
		return p;
	struct as_profile *to = *ret_own = as_profile_like(p, &ignored);
	if (!to || as_copy_open(&c, p, to, &ignored) < 0)
		return NULL;
	to->duration_ns = p->duration_ns;
	to->taking = p->taking;
	for (size_t i = 0; i < p->nsamples; i++)
		add_sample(&c, &p->sample[i]);
	return as_profile_ok(to, &ignored) == AS_OK ? to : NULL;
}
