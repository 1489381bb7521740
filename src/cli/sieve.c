#include "cli/sieve.h"

#include "base/cleanup.h"

static struct as_words words(const struct as_opt_list *l)
{
	return (struct as_words){l->v, l->n};
}

struct as_profile_filter as_sieve_filter(const struct as_sieve *s)
{
	return (struct as_profile_filter){
		.metric = s->metric,
		.focus = s->focus,
		.callers = s->callers,
		.show_from = words(&s->show_from),
		.show_stacks = words(&s->show_stacks),
		.hide_stacks = words(&s->hide_stacks),
		.hide_frames = words(&s->hide_frames),
		.highlight = words(&s->highlight),
	};
}

static bool changes(const struct as_profile_filter *f)
{
	return f->metric || f->focus || f->callers || f->show_from.n || f->show_stacks.n ||
	       f->hide_stacks.n || f->hide_frames.n;
}

int as_sieve_kept(const struct as_sieve *s, size_t samples, struct as_err *err)
{
	struct as_profile_filter f = as_sieve_filter(s);

	if (samples || !changes(&f))
		return AS_OK;
	(void)as_fail(err, AS_ENOTFOUND, "no stack is left after the filters");
	return as_hint(err, "they look for words in names of functions and files as they are "
			    "spelled; 'assay report --stacks' lists them");
}

int as_sieve_left(const struct as_sieve *s, const struct as_profile *p, struct as_err *err)
{
	int r = as_sieve_kept(s, p->nsamples, err);

	if (r < 0 || p->nsamples)
		return r;
	return as_fail(err, AS_ENOTFOUND, "the profile has no stacks");
}

int as_sieve_apply(const struct as_sieve *s, struct as_profile **p, struct as_err *err)
{
	struct as_profile_filter f = as_sieve_filter(s);
	struct as_profile *left = NULL;
	int r = changes(&f) ? as_profile_filtered(*p, &f, &left, err) : AS_OK;

	if (!left)
		return r;
	as_profile_free(*p);
	*p = left;
	return r;
}
