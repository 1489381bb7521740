#include "judge/trial.h"

#include <math.h>

#include "base/fault.h"

/* More than the 1.96 of 95 %: it is looked at again and again, until it is sure. */
static const double z = 2.2;

int as_trial_open(struct as_trial *t, const struct as_thresholds *thresholds, struct as_err *err)
{
	*t = (struct as_trial){.thresholds = thresholds, .slice = as_zalloc(sizeof *t->slice)};
	return t->slice ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for histograms");
}

void as_trial_close(struct as_trial *t)
{
	free(t->slice);
	t->slice = NULL;
}

void as_trial_add(struct as_trial *t, const struct as_histogram *latency,
		  const struct as_histogram *wire, uint64_t requests, uint64_t failed)
{
	struct as_load *l = t->slice;

	as_histogram_clear(&l->latency);
	as_histogram_clear(&l->wire);
	as_histogram_merge(&l->latency, latency);
	as_histogram_merge(&l->wire, wire);
	l->requests = requests;
	l->errors[AS_LOAD_SYSTEM] = failed;
	for (size_t i = 0; i < t->thresholds->n; i++) {
		struct as_threshold_share s;

		if (as_threshold_share(&t->thresholds->at[i], l, &s))
			as_share_add(&t->share[i], s.good, s.n);
	}
}

struct answer {
	bool keeps, sure;
};

static struct answer by_share(const struct as_share_interval *i, double need)
{
	return (struct answer){i->mid >= need, i->low >= need || i->high < need};
}

/* Of the end: the slices have its interval, if they saw it, else independence is assumed. */
static struct answer judge_one(const struct as_trial *t, size_t at, const struct as_load *whole)
{
	const struct as_threshold *x = &t->thresholds->at[at];
	struct as_share_interval by = as_share_of(&t->share[at], z);
	struct as_threshold_share s;

	if (!as_threshold_share(x, whole ? whole : t->slice, &s))
		return whole ? (struct answer){as_threshold_holds(x, as_threshold_value(x, whole)),
					       true}
			     : (struct answer){true, false};
	if (isnan(by.mid) && whole)
		by = as_share_wilson(s.good, s.n, z);
	if (isnan(by.mid))
		return (struct answer){!whole, false};
	return by_share(&by, s.need);
}

struct as_trial_view as_trial_judge(const struct as_trial *t, const struct as_load *whole)
{
	struct as_trial_view all = {.keeps = true, .sure = true};

	for (size_t i = 0; i < t->thresholds->n; i++) {
		struct answer one = judge_one(t, i, whole);

		if (!one.keeps && one.sure) /* nothing else can change that */
			return (struct as_trial_view){false, true, &t->thresholds->at[i]};
		if (!one.keeps && all.keeps)
			all.missed = &t->thresholds->at[i];
		all.keeps = all.keeps && one.keeps;
		all.sure = all.sure && one.sure;
	}
	return all;
}
