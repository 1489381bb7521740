#include "profile/sum.h"

#include <string.h>

#include "base/cleanup.h"
#include "profile/merge.h"

struct kinds {
	struct as_value_kind at[AS_VALUES_MAX];
	size_t n;
};

static int add_kind(struct kinds *k, const struct as_value_kind *x, struct as_err *err)
{
	for (size_t i = 0; i < k->n; i++) {
		if (strcmp(k->at[i].name, x->name))
			continue;
		return !strcmp(k->at[i].unit, x->unit)
			       ? AS_OK
			       : as_fail(err, AS_EUSAGE, "%s is in %s here and in %s there",
					 x->name, k->at[i].unit, x->unit);
	}
	if (k->n == AS_VALUES_MAX)
		return as_fail(err, AS_EUNSUP, "together they have more than %d kinds of value",
			       AS_VALUES_MAX);
	k->at[k->n++] = *x;
	return AS_OK;
}

static int gather(const struct as_profile *const *p, size_t n, struct kinds *k, struct as_err *err)
{
	int r = AS_OK;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; r == AS_OK && j < p[i]->nkinds; j++)
			r = add_kind(k, &p[i]->kind[j], err);
	return r;
}

/* Before they are merged: where the slices of all begin, and how long they are. */
static void set_times(struct as_profile *to, const struct as_profile *const *p, size_t n)
{
	bool known = true;

	to->period_ns = p[0]->period_ns;
	for (size_t i = 0; i < n; i++) {
		int64_t start = p[i]->start_unix_ns;

		if (start && (!to->start_unix_ns || start < to->start_unix_ns))
			to->start_unix_ns = start;
		if (p[i]->slice_ns > to->slice_ns)
			to->slice_ns = p[i]->slice_ns;
		if (p[i]->period_ns != to->period_ns)
			to->period_ns = 0;
		known &= p[i]->slice_ns && (start || n == 1);
	}
	to->slice_ns = known ? to->slice_ns : 0;
}

static int64_t durations(const struct as_profile *const *p, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, p[i]->duration_ns, &sum))
			return INT64_MAX;
	return sum;
}

int as_profile_sum(const struct as_profile *const *p, size_t n, struct as_profile **ret,
		   struct as_err *err)
{
	struct kinds k = {.n = 0};
	int r = gather(p, n, &k, err);

	if (r < 0)
		return r;
	as_auto_profile struct as_profile *to = as_profile_new(k.at, k.n, err);
	if (!to)
		return err->code;
	to->main_kind = p[0]->main_kind;
	to->totals = p[0]->totals;
	set_times(to, p, n);
	for (size_t i = 0; i < n; i++) {
		to->totals = p[i]->totals == to->totals ? to->totals : AS_TOTALS_UNKNOWN;
		as_profile_merge(to, p[i]);
	}
	to->duration_ns = durations(p, n);
	r = as_profile_ok(to, err);
	if (r == AS_OK)
		*ret = as_take(to);
	return r;
}
