#include "cli/sieve.h"

#include "base/cleanup.h"
#include "report/words.h"

static struct as_words words(const struct as_opt_list *l)
{
	return (struct as_words){l->v, l->n};
}

/* Options that are a sieve and nothing else. */
struct alone {
	struct as_sieve sieve;
};

static void put_option(struct as_buf *out, const struct as_opt *o, const char *value)
{
	as_buf_fmt(out, "%s--%s", out->len ? " " : "", o->name);
	if (!value)
		return;
	as_buf_byte(out, ' ');
	as_put_word(out, value);
}

void as_put_sieve(struct as_buf *out, const struct as_sieve *s)
{
	static const struct as_opt opts[] = {AS_SIEVE_OPTS(struct alone, sieve)};

	for (size_t i = 0; i < AS_LEN(opts); i++) {
		const void *at = (const char *)s + opts[i].at;
		const struct as_opt_list *list = at;

		if (!*opts[i].name)
			continue; /* the heading */
		if (opts[i].type == AS_OPT_SWITCH && *(const bool *)at)
			put_option(out, &opts[i], NULL);
		else if (opts[i].type == AS_OPT_TEXT && *(const char *const *)at)
			put_option(out, &opts[i], *(const char *const *)at);
		for (size_t k = 0; opts[i].type == AS_OPT_LIST && k < list->n; k++)
			put_option(out, &opts[i], list->v[k]);
	}
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

int as_sieve_kept(const struct as_sieve *s, size_t samples, struct as_err *err)
{
	struct as_profile_filter f = as_sieve_filter(s);

	if (samples || !as_filter_changes(&f))
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
	int r = as_filter_changes(&f) ? as_profile_filtered(*p, &f, &left, err) : AS_OK;

	if (!left)
		return r;
	as_profile_free(*p);
	*p = left;
	return r;
}
