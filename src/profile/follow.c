#include "profile/follow.h"

#include <string.h>

static void take_names(struct as_profile *copy, const struct as_profile *of)
{
	for (size_t i = copy->ntexts; i < of->ntexts && !copy->bad; i++)
		(void)as_profile_text(copy, of->text[i], strlen(of->text[i]));
	for (size_t i = copy->nplaces; i < of->nplaces && !copy->bad; i++)
		(void)as_profile_place(copy, of->place[i]);
	for (size_t i = copy->nstacks; i < of->nstacks && !copy->bad; i++)
		(void)as_profile_stack(copy, of->stack[i].caller, of->stack[i].place);
	for (size_t i = copy->ntags; i < of->ntags && !copy->bad; i++)
		(void)as_profile_tags(copy, of->tags[i].at, of->tags[i].n);
}

static void take_values(struct as_profile *copy, const struct as_sample *s, size_t at)
{
	bool news = at >= copy->nsamples;
	int64_t more[AS_VALUES_MAX] = {0};

	for (size_t k = 0; k < copy->nkinds; k++) {
		more[k] = s->v[k] - (at < copy->nsamples ? copy->sample[at].v[k] : 0);
		news |= more[k] != 0;
	}
	if (news)
		as_profile_add(copy, s->stack, s->tags, s->slice, more);
}

void as_profile_follow(struct as_profile *copy, const struct as_profile *of)
{
	take_names(copy, of);
	for (size_t i = 0; i < of->nsamples && !copy->bad; i++)
		take_values(copy, &of->sample[i], i);
	copy->bad |= of->bad;
}
