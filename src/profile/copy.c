#include "profile/copy.h"

#include <string.h>

#include "base/fault.h"

int as_copy_open(struct as_copy *c, const struct as_profile *from, struct as_profile *to,
		 struct as_err *err)
{
	*c = (struct as_copy){
		.from = from,
		.to = to,
		.text = as_zalloc_n(from->ntexts, sizeof *c->text),
		.place = as_zalloc_n(from->nplaces, sizeof *c->place),
		.tags = as_zalloc_n(from->ntags, sizeof *c->tags),
		.stack = as_zalloc_n(from->nstacks, sizeof *c->stack),
	};
	if (c->text && c->place && c->tags && c->stack)
		return AS_OK;
	return as_fail(err, AS_ENOMEM, "no memory to copy a profile");
}

void as_copy_done(struct as_copy *c)
{
	free(c->text);
	free(c->place);
	free(c->tags);
	free(c->stack);
}

uint32_t as_copy_text(struct as_copy *c, uint32_t text)
{
	const char *s = c->from->text[text];

	if (text && !c->text[text])
		c->text[text] = as_profile_text(c->to, s, strlen(s));
	return c->text[text];
}

uint32_t as_copy_place(struct as_copy *c, uint32_t place)
{
	const struct as_place *x = &c->from->place[place];

	if (place && !c->place[place])
		c->place[place] =
			as_profile_place(c->to, (struct as_place){as_copy_text(c, x->function),
								  as_copy_text(c, x->file), x->line,
								  x->begin, x->coroutine});
	return c->place[place];
}

uint32_t as_copy_tags(struct as_copy *c, uint32_t tags)
{
	const struct as_tags *x = &c->from->tags[tags];
	struct as_tag at[AS_TAGS_MAX];

	if (!tags || c->tags[tags])
		return c->tags[tags];
	for (size_t i = 0; i < x->n; i++)
		at[i] = (struct as_tag){as_copy_text(c, x->at[i].key),
					as_copy_text(c, x->at[i].text), x->at[i].number};
	c->tags[tags] = as_profile_tags(c->to, at, x->n);
	return c->tags[tags];
}
