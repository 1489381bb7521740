#include "base/cleanup.h"
#include "base/fault.h"
#include "tui/top.h"

/* A row in the making: the last sample that counted for its totals. */
struct tally {
	int64_t value[AS_TOP_SORTS];
	size_t seen;
};

static bool counts(const struct as_top *t, size_t sample)
{
	uint32_t tags = t->p->sample[sample].tags;

	return !t->list.only || (tags && tags < t->ntags && t->thread_of[tags] + 1 == t->list.only);
}

/* The stack that is shown for it, or AS_NOT_LEFT. */
static uint32_t stack_of(const struct as_top *t, size_t sample)
{
	if (!t->left.p)
		return t->p->sample[sample].stack;
	return sample < t->left.n ? t->left.stack[sample] : AS_NOT_LEFT;
}

/* A function that is on the stack twice has its total once. */
static void count_one(struct as_top *t, const uint32_t *of, struct tally *tally, size_t i)
{
	const struct as_profile *p = as_top_shown(t);
	size_t kind = t->kind[as_top_time(t)];
	int64_t window = t->recent.had[i].window[kind], all = t->recent.had[i].all[kind];
	uint32_t stack = stack_of(t, i);

	t->rows_of_ns += all;
	if (stack == AS_NOT_LEFT)
		return;
	t->rows_ns += all;
	struct tally *leaf = &tally[of[p->stack[stack].place]];

	leaf->value[AS_TOP_BY_OWN] += window;
	leaf->value[AS_TOP_BY_OWN_TIME] += all;
	for (; stack && all; stack = p->stack[stack].caller) {
		struct tally *x = &tally[of[p->stack[stack].place]];

		if (x->seen != i + 1) {
			x->value[AS_TOP_BY_TOTAL] += window;
			x->value[AS_TOP_BY_TOTAL_TIME] += all;
		}
		x->seen = i + 1;
	}
}

static void collect(struct as_top *t, const struct tally *tally, size_t n)
{
	t->list.nrows = 0;
	for (uint32_t i = 1; i < n; i++)
		if (tally[i].value[AS_TOP_BY_TOTAL_TIME])
			as_browse_add(&t->list, as_top_shown(t), i, tally[i].value, AS_TOP_SORTS);
	t->list.none = t->filters && t->rows_of_ns ? "the filters leave nothing to show" : NULL;
	as_browse_sort(&t->list, AS_TOP_SORTS);
}

void as_top_make_rows(struct as_top *t)
{
	const struct as_profile *p = as_top_shown(t);
	size_t n = p->nplaces;
	as_auto_free uint32_t *of = as_browse_groups(p, !t->lines);
	as_auto_free struct tally *tally = as_zalloc_n(n, sizeof *tally);

	if (!of || !tally || !as_browse_room(&t->list, p)) {
		t->p->bad = true;
		return;
	}
	t->rows_ns = t->rows_of_ns = 0;
	for (size_t i = 0; i < t->recent.n; i++)
		if (counts(t, i))
			count_one(t, of, tally, i);
	collect(t, tally, n);
}
