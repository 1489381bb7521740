#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"
#include "profile/write.h"
#include "tui/top.h"

/* A row in the making: the last sample that counted for its totals. */
struct tally {
	int64_t value[AS_TOP_SORTS];
	size_t seen;
};

static bool counts(const struct as_top *t, size_t sample)
{
	uint32_t tags = t->p->sample[sample].tags;

	return !t->only || (tags && tags < t->ntags && t->thread_of[tags] + 1 == t->only);
}

/* A function that is on the stack twice has its total once. */
static void count_one(const struct as_top *t, const uint32_t *of, struct tally *tally, size_t i)
{
	const struct as_profile *p = t->p;
	size_t kind = t->kind[as_top_time(t)];
	int64_t window = t->recent.had[i].window[kind], all = t->recent.had[i].all[kind];
	uint32_t stack = p->sample[i].stack;
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

static bool wanted(const struct as_top *t, uint32_t place)
{
	const struct as_place *at = &t->p->place[place];
	struct as_spelling how = {0};

	return !t->search[0] || strcasestr(t->p->text[at->function], t->search) ||
	       strcasestr(as_spell_file(t->p, at, &how), t->search);
}

static int compare(const void *a, const void *b, void *top)
{
	const struct as_top_row *x = a, *y = b;
	const struct as_top *t = top;

	/* by what was asked for, then by the other values, then by age */
	for (unsigned i = 0; i < AS_TOP_SORTS; i++) {
		unsigned by = (t->sort + i) % AS_TOP_SORTS;

		if (x->value[by] != y->value[by])
			return x->value[by] < y->value[by] ? 1 : -1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

static void collect(struct as_top *t, const struct tally *tally, size_t n)
{
	t->nrows = 0;
	for (uint32_t i = 1; i < n; i++)
		if (tally[i].value[AS_TOP_BY_TOTAL_TIME] && wanted(t, i)) {
			struct as_top_row *row = &t->row[t->nrows++];

			row->place = i;
			memcpy(row->value, tally[i].value, sizeof row->value);
		}
	qsort_r(t->row, t->nrows, sizeof *t->row, compare, t);
}

/* Each line for itself, or all of a function together. */
static uint32_t *groups(const struct as_top *t)
{
	if (!t->lines)
		return as_profile_functions(t->p);
	uint32_t *of = as_zalloc_n(t->p->nplaces, sizeof *of);
	for (uint32_t i = 0; of && i < t->p->nplaces; i++)
		of[i] = i;
	return of;
}

void as_top_make_rows(struct as_top *t)
{
	size_t n = t->p->nplaces;
	as_auto_free uint32_t *of = groups(t);
	as_auto_free struct tally *tally = as_zalloc_n(n, sizeof *tally);
	struct as_top_row *row = as_realloc(t->row, n * sizeof *row);

	if (row)
		t->row = row;
	if (!of || !tally || !row) {
		t->p->bad = true;
		return;
	}
	for (size_t i = 0; i < t->recent.n; i++)
		if (counts(t, i))
			count_one(t, of, tally, i);
	collect(t, tally, n);
}
