#include "base/cleanup.h"
#include "base/fault.h"
#include "tui/top.h"

/* All of it anew: stacks that are cut in the middle have numbers that do not last. */
static int sift(struct as_top *t, struct as_err *err)
{
	size_t n = t->p->nsamples;
	as_auto_free uint32_t *stack = as_zalloc_n(n + 1, sizeof *stack);
	as_auto_profile struct as_profile *left = NULL;

	if (!stack)
		return as_fail(err, AS_ENOMEM, "no memory to filter a profile");
	int r = as_profile_sifted(t->p, &t->filter, stack, &left, err);
	if (r < 0)
		return r;
	t->list.nrows = 0; /* they have places of the one before */
	free(t->left.stack);
	as_profile_free(t->left.p);
	t->left = (struct as_top_left){as_take(left), as_take(stack), n};
	return AS_OK;
}

int as_top_filter(struct as_top *t, const struct as_profile_filter *f, const char *typed,
		  struct as_err *err)
{
	t->filter = *f;
	t->filters = *typed ? typed : NULL;
	return as_filter_changes(f) ? sift(t, err) : AS_OK;
}

void as_top_sift(struct as_top *t)
{
	struct as_err ignored;

	if (t->left.p && sift(t, &ignored) < 0)
		t->p->bad = true;
}

const struct as_profile *as_top_shown(const struct as_top *t)
{
	return t->left.p ? t->left.p : t->p;
}

void as_top_put_filters(const struct as_top *t, struct as_buf *out)
{
	if (t->filters)
		as_buf_fmt(out, "filters leave %s %% of the %s: %s",
			   as_top_share(t->rows_ns, t->rows_of_ns).s, as_top_time_name(t),
			   t->filters);
}
