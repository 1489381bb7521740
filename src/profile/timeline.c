#include "profile/timeline.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "profile/functions.h"

/* A sample by its slice and the function at its tip. */
struct seen {
	uint32_t slice, function, sample;
};

static int by_slice(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

static struct seen *sorted(const struct as_profile *p)
{
	as_auto_free uint32_t *of = as_profile_functions(p);
	as_auto_free struct seen *s = as_zalloc_n(p->nsamples, sizeof *s);

	if (!of || !s)
		return NULL;
	for (uint32_t i = 0; i < p->nsamples; i++)
		s[i] = (struct seen){p->sample[i].slice, of[p->stack[p->sample[i].stack].place], i};
	if (p->nsamples)
		qsort(s, p->nsamples, sizeof *s, by_slice);
	return as_take(s);
}

static void add_values(const struct as_profile *p, uint32_t sample, struct as_slice_sum *sum)
{
	for (size_t k = 0; k < p->nkinds; k++)
		sum->v[k] = as_value_plus(sum->v[k], p->sample[sample].v[k]);
}

/* The samples of one slice, from `s` to before `end`, into its sum. */
static void sum_slice(const struct as_profile *p, size_t kind, const struct seen *s,
		      const struct seen *end, struct as_slice_sum *sum)
{
	int64_t most = 0;

	sum->slice = s->slice;
	while (s < end) {
		uint32_t function = s->function;
		int64_t self = 0;

		for (; s < end && s->function == function; s++) {
			self = as_value_plus(self, p->sample[s->sample].v[kind]);
			add_values(p, s->sample, sum);
		}
		if (self > most) {
			most = self;
			sum->place = function;
		}
	}
}

int as_profile_timeline(const struct as_profile *p, size_t kind, struct as_slice_sum **ret,
			size_t *ret_n, struct as_err *err)
{
	as_auto_free struct seen *s = sorted(p);
	as_auto_free struct as_slice_sum *sum = as_zalloc_n(p->nsamples, sizeof *sum);
	size_t n = 0;

	if (!s || !sum)
		return as_fail(err, AS_ENOMEM, "no memory to sum a profile");
	for (size_t i = 0, end; i < p->nsamples; i = end) {
		for (end = i; end < p->nsamples && s[end].slice == s[i].slice; end++)
			;
		sum_slice(p, kind, s + i, s + end, &sum[n++]);
	}
	*ret = as_take(sum);
	*ret_n = n;
	return AS_OK;
}
