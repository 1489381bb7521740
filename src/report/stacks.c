#include "report/stacks.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/human.h"
#include "profile/functions.h"
#include "profile/timeline.h"
#include "report/amount.h"
#include "report/hot.h"

enum { FUNCTIONS_TOLD = 20 };

static const int64_t unseen_told = 50 * AS_MSEC;

static double rejected_ratio(const struct as_sampling *c)
{
	struct as_taking t = as_taking_of(c);

	return as_taking_rejected(&t);
}

void as_put_sampling(struct as_buf *out, const struct as_run *run)
{
	const struct as_sampling *c = &run->sampling;

	as_buf_fmt(out, "%s sample%s in %s, %.2f %% rejected, %s late",
		   as_human_count((double)c->samples).s, c->samples == 1 ? "" : "s",
		   as_human_duration(run->stacks->duration_ns).s, 100 * rejected_ratio(c),
		   as_human_count((double)c->late).s);
	if (c->stops)
		as_buf_fmt(out, ", stopped %s times for %s in all",
			   as_human_count((double)c->stops).s, as_human_duration(c->stopped_ns).s);
}

/* CPU time that no stack has; AS_NA: nobody knows, or so little that the start of Python is it. */
static int64_t unseen_of(const struct as_run *run)
{
	const struct as_total *all = &run->totals[AS_T_CPU];
	struct as_err ignored;
	size_t kind;

	if (all->how != AS_MEASURED || as_profile_kind(run->stacks, "cpu", &kind, &ignored) < 0)
		return AS_NA;
	int64_t unseen = all->value - as_profile_total(run->stacks, kind);
	return unseen > unseen_told && unseen > all->value / 10 ? unseen : AS_NA;
}

void as_put_unseen(struct as_buf *out, const struct as_run *run, const char *indent)
{
	int64_t unseen = unseen_of(run);

	if (unseen != AS_NA)
		as_buf_fmt(out, "%s%s of %s CPU in no stack: %s\n", indent,
			   as_human_duration(unseen).s,
			   as_human_duration(run->totals[AS_T_CPU].value).s,
			   "other processes, threads without Python");
}

void as_put_stacks(const struct as_sheet *s, size_t rows)
{
	const struct as_profile *p = s->run->stacks;
	struct as_spelling how = {.functions = true};
	struct as_err err;

	if (!p)
		return;
	as_heading(s->out, s->look, "Functions that took most, by stacks");
	s->out->bad |= as_put_hot(s->out, s->look, p, &how, rows, 2, &err) < 0;
	as_buf_str(s->out, "  ");
	as_put_sampling(s->out, s->run);
	as_buf_byte(s->out, '\n');
	as_put_unseen(s->out, s->run, "  ");
}

/* ── JSON ─────────────────────────────────────────────────────────────── */

static void put_function(struct as_json *j, const struct as_profile *p,
			 const struct as_function_sum *f)
{
	const struct as_place *at = &p->place[f->place];

	as_json_open(j, NULL, '{');
	as_json_str(j, "function", p->text[at->function]);
	as_json_str(j, "file", at->file ? p->text[at->file] : NULL);
	if (at->begin > 0)
		as_json_i64(j, "line", at->begin);
	else
		as_json_na(j, "line");
	as_json_i64(j, "self", f->self);
	if (f->total != AS_TOTAL_UNKNOWN)
		as_json_i64(j, "total", f->total);
	else
		as_json_na(j, "total");
	as_json_close(j);
}

static void put_functions(struct as_json *j, const struct as_profile *p, size_t kind)
{
	as_auto_free struct as_function_sum *sum = NULL;
	struct as_err err;
	size_t n = 0;

	if (p)
		j->out->bad |= as_profile_sums(p, kind, &sum, &n, &err) < 0;
	as_json_open(j, "functions", '[');
	for (size_t i = 0; i < n && i < FUNCTIONS_TOLD; i++)
		put_function(j, p, &sum[i]);
	as_json_close(j);
}

/* Each of several that a reader wants to see has its own functions. */
static void put_kinds(struct as_json *j, const struct as_profile *p)
{
	size_t first = p ? as_profile_first_kind(p) : 0;

	as_json_open(j, "kinds", '[');
	for (size_t i = 0; p && i < p->nkinds; i++) {
		as_json_open(j, NULL, '{');
		as_json_str(j, "name", p->kind[i].name);
		as_json_str(j, "unit", p->kind[i].unit);
		as_json_i64(j, "total", as_profile_total(p, i));
		if (i >= first && first + 1 < p->nkinds)
			put_functions(j, p, i);
		as_json_close(j);
	}
	as_json_close(j);
}

void as_put_profile_json(struct as_json *j, const struct as_profile *p)
{
	put_kinds(j, p);
	as_json_str(j, "functions_kind", p ? p->kind[p->main_kind].name : NULL);
	put_functions(j, p, p ? p->main_kind : 0);
}

static void put_slice(struct as_json *j, const struct as_profile *p, const struct as_slice_sum *s)
{
	as_json_open(j, NULL, '{');
	as_json_i64(j, "t_ns", s->slice * p->slice_ns);
	as_json_open(j, "values", '{');
	for (size_t i = 0; i < p->nkinds; i++)
		as_json_i64(j, p->kind[i].name, s->v[i]);
	as_json_close(j);
	as_json_str(j, "function", s->place ? p->text[p->place[s->place].function] : NULL);
	as_json_close(j);
}

/* On the time of the run's own timeline. */
static void put_slices(struct as_json *j, const struct as_profile *p)
{
	as_auto_free struct as_slice_sum *sum = NULL;
	struct as_err err;
	size_t n = 0;

	j->out->bad |= as_profile_timeline(p, p->main_kind, &sum, &n, &err) < 0;
	as_json_open(j, "timeline", '[');
	for (size_t i = 0; i < n; i++)
		put_slice(j, p, &sum[i]);
	as_json_close(j);
}

void as_put_taking_json(struct as_json *j, const char *key, const struct as_taking *t)
{
	if (!t->known) {
		as_json_na(j, key);
		return;
	}
	as_json_open(j, key, '{');
	as_json_i64(j, "samples", t->samples);
	as_json_i64(j, "rejected", t->rejected);
	as_json_f64(j, "rejected_ratio", as_taking_rejected(t));
	as_json_i64(j, "late", t->late);
	as_json_close(j);
}

void as_put_sampling_json(struct as_json *j, const struct as_run *run)
{
	const struct as_sampling *c = &run->sampling;

	as_json_i64(j, "processes", c->pythons);
	as_json_i64(j, "looks", c->looks);
	as_json_i64(j, "samples", c->samples);
	as_json_i64(j, "rejected", c->rejected);
	as_json_f64(j, "rejected_ratio", rejected_ratio(c));
	as_json_i64(j, "late", c->late);
	as_json_i64(j, "torn_reads", c->torn);
	as_json_i64(j, "without_python", c->empty);
	as_json_i64(j, "stops", c->stops);
	as_json_i64(j, "stopped_ns", c->stopped_ns);
	as_json_i64(j, "duration_ns", run->stacks->duration_ns);
}

void as_put_stacks_json(struct as_json *j, const struct as_run *run)
{
	const struct as_profile *p = run->stacks;

	if (!p) {
		as_json_na(j, "stacks");
		return;
	}
	as_json_open(j, "stacks", '{');
	as_put_profile_json(j, p);
	as_json_i64(j, "period_ns", p->period_ns);
	as_json_i64(j, "slice_ns", p->slice_ns);
	as_put_sampling_json(j, run);
	put_slices(j, p);
	as_json_close(j);
}
