#include "profile/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/pstats.h"

static bool same_function(const void *owner, uint32_t at, const void *key)
{
	const struct as_profile *p = owner;
	const struct as_place *a = &p->place[at], *b = key;

	return a->function == b->function && a->file == b->file && a->begin == b->begin;
}

uint32_t *as_profile_functions(const struct as_profile *p)
{
	as_cleanup(as_index_done) struct as_index x = {0};
	as_auto_free uint32_t *of = as_zalloc_n(p->nplaces, sizeof *of);

	for (uint32_t i = 1; of && i < p->nplaces; i++) {
		const struct as_place *it = &p->place[i];
		const uint32_t key[] = {it->function, it->file, (uint32_t)it->begin};
		uint32_t hash = as_hash(0, key, sizeof key);
		uint32_t at = as_index_find(&x, hash, same_function, p, it);

		of[i] = at == AS_NOWHERE ? i : at;
		if (at == AS_NOWHERE && !as_index_add(&x, hash, i))
			return NULL;
	}
	return as_take(of);
}

/* A function in the making: the last sample that counted for its total. */
struct tally {
	int64_t self, total;
	size_t seen;
};

size_t as_profile_total_kind(const struct as_profile *p, size_t kind)
{
	if (p->totals == AS_TOTALS_STACKS)
		return kind;
	for (size_t i = 0; p->totals == AS_TOTALS_CUMULATIVE && i < p->nkinds; i++)
		if (!strcmp(p->kind[i].name, AS_PSTATS_CUMULATIVE) &&
		    (i == kind || !strcmp(p->kind[kind].name, AS_PSTATS_TIME)))
			return i;
	return AS_VALUES_MAX;
}

/* Where stacks are pairs only what stands last in one is the function's. */
static void count_pairs(const struct as_profile *p, size_t kind, const uint32_t *of,
			struct tally *t)
{
	size_t below = as_profile_total_kind(p, kind);

	for (size_t i = 0; i < p->nsamples; i++) {
		const struct as_sample *s = &p->sample[i];
		struct tally *leaf = &t[of[p->stack[s->stack].place]];

		leaf->self = as_value_plus(leaf->self, s->v[kind]);
		leaf->total = below < AS_VALUES_MAX ? as_value_plus(leaf->total, s->v[below])
						    : AS_TOTAL_UNKNOWN;
	}
}

static void count(const struct as_profile *p, size_t kind, const uint32_t *of, struct tally *t)
{
	for (size_t i = 0; i < p->nsamples; i++) {
		int64_t v = p->sample[i].v[kind];
		uint32_t stack = p->sample[i].stack;

		struct tally *leaf = &t[of[p->stack[stack].place]];

		leaf->self = as_value_plus(leaf->self, v);
		for (; stack; stack = p->stack[stack].caller) {
			struct tally *f = &t[of[p->stack[stack].place]];

			f->total = as_value_plus(f->total, f->seen == i + 1 ? 0 : v);
			f->seen = i + 1;
		}
	}
}

static int by_self(const void *a, const void *b)
{
	const struct as_function_sum *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

int as_profile_sums(const struct as_profile *p, size_t kind, struct as_function_sum **ret,
		    size_t *ret_n, struct as_err *err)
{
	as_auto_free uint32_t *of = as_profile_functions(p);
	as_auto_free struct tally *t = as_zalloc_n(p->nplaces, sizeof *t);
	as_auto_free struct as_function_sum *sum = as_zalloc_n(p->nplaces, sizeof *sum);
	size_t n = 0;

	if (!of || !t || !sum)
		return as_fail(err, AS_ENOMEM, "no memory to sum a profile");
	if (p->totals == AS_TOTALS_STACKS)
		count(p, kind, of, t);
	else
		count_pairs(p, kind, of, t);
	for (uint32_t i = 1; i < p->nplaces; i++)
		if (t[i].self || (t[i].total && t[i].total != AS_TOTAL_UNKNOWN))
			sum[n++] = (struct as_function_sum){i, t[i].self, t[i].total};
	qsort(sum, n, sizeof *sum, by_self);
	*ret = as_take(sum);
	*ret_n = n;
	return AS_OK;
}
