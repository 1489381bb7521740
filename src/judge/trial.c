#include "judge/trial.h"

#include <math.h>
#include <stdio.h>

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

static void set_times(struct as_histogram *to, const struct as_histogram *from)
{
	as_histogram_clear(to);
	as_histogram_merge(to, from);
}

void as_trial_name_step(struct as_trial *t, const char *name)
{
	struct as_load_step *s = &t->slice->step[t->slice->nsteps++];

	(void)snprintf(s->name, sizeof s->name, "%s", name);
}

void as_trial_name_check(struct as_trial *t, size_t step)
{
	t->slice->check[t->slice->nchecks++].step = step;
}

/* Checks are told as sums. */
static void set_flow(struct as_trial *t, const struct as_trial_slice *s)
{
	struct as_load *l = t->slice;

	for (size_t i = 0; i < l->nsteps; i++) {
		as_load_step_clear(&l->step[i]);
		if (i < s->nsteps)
			as_load_step_add(&l->step[i], &s->step[i]);
	}
	for (size_t i = 0; i < l->nchecks && i < s->nchecks; i++) {
		l->check[i].passed = s->check[i].passed - t->before[i].passed;
		l->check[i].failed = s->check[i].failed - t->before[i].failed;
		t->before[i] = s->check[i];
	}
}

void as_trial_add(struct as_trial *t, const struct as_trial_slice *s)
{
	struct as_load *l = t->slice;

	set_times(&l->latency, s->latency);
	set_times(&l->wire, s->wire);
	set_times(&l->waiting, s->waiting);
	l->requests = s->requests;
	l->errors[AS_LOAD_SYSTEM] = s->failed;
	l->met = s->met;
	l->status[0] = s->answers;
	l->measured_ns = s->ns;
	as_load_streams_clear(&l->stream);
	if (s->stream)
		as_load_streams_add(&l->stream, s->stream);
	set_flow(t, s);
	for (size_t i = 0; i < t->thresholds->n; i++) {
		const struct as_threshold *x = &t->thresholds->at[i];
		struct as_threshold_share of;
		struct as_threshold_ratio r;

		if (as_threshold_share(x, l, &of))
			as_share_add(&t->share[i], of.good, of.n);
		else if (as_threshold_ratio(x, l, &r))
			as_share_add(&t->share[i], r.sum, r.n);
	}
}

struct answer {
	bool keeps, sure;
};

static struct answer by_share(const struct as_share_interval *i, double share, double need)
{
	bool keeps = share >= need;

	return (struct answer){keeps, keeps ? i->low >= need : i->high < need};
}

/* So many were counted that an interval means something; a rate is of time. */
static bool are_enough(const struct as_trial *t, size_t at, double whole)
{
	bool counted = t->thresholds->at[at].unit != AS_THRESHOLD_RATE;

	return !counted || fmax(as_share_counted(&t->share[at]), whole) >= AS_TRIAL_FEWEST;
}

/* Sure is what either end of the interval says. */
static struct answer by_ratio(const struct as_threshold *x, const struct as_share_interval *i,
			      const struct as_load *whole)
{
	bool low = as_threshold_holds(x, i->low), high = as_threshold_holds(x, i->high);
	double value = whole ? as_threshold_value(x, whole) : i->mid;

	if (isnan(value))
		return (struct answer){!whole, false};
	bool keeps = as_threshold_holds(x, value);
	return (struct answer){keeps, !isnan(i->low) && low == keeps && high == keeps};
}

/* It has no interval. */
static struct answer by_value(const struct as_threshold *x, const struct as_load *whole)
{
	if (!whole)
		return (struct answer){true, false};
	double value = as_threshold_value(x, whole);
	bool keeps = as_threshold_holds(x, value);
	return (struct answer){keeps, !isnan(value) && as_threshold_is_final(x, keeps)};
}

static struct answer unless_few(struct answer a, bool enough)
{
	return (struct answer){a.keeps, a.sure && enough};
}

/*
 * Of the end it is what the whole load says, as it is shown. The slices have its interval, if
 * they saw it, else independence is assumed.
 */
static struct answer judge_one(const struct as_trial *t, size_t at, const struct as_load *whole)
{
	const struct as_threshold *x = &t->thresholds->at[at];
	const struct as_load *l = whole ? whole : t->slice;
	struct as_share_interval by;
	struct as_threshold_share s;
	struct as_threshold_ratio r;

	if (!as_threshold_share(x, l, &s)) {
		by = as_share_ratio(&t->share[at], z);
		if (!as_threshold_ratio(x, l, &r))
			return by_value(x, whole);
		return unless_few(by_ratio(x, &by, whole), are_enough(t, at, whole ? r.n : 0));
	}
	by = as_share_of(&t->share[at], z);
	if (isnan(by.mid) && whole)
		by = as_share_wilson(s.good, s.n, z);
	if (isnan(by.mid))
		return (struct answer){!whole, false};
	return unless_few(by_share(&by, whole && s.n > 0 ? s.good / s.n : by.mid, s.need),
			  are_enough(t, at, whole ? s.n : 0));
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
