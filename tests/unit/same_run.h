#pragma once
/*
 * same_run -- two runs must be the same, member by member, or the test is red.
 */
#include "run/run.h"
#include "utest.h"

static inline void same_number(double a, double b)
{
	if (isnan(a) && isnan(b))
		return;
	if (memcmp(&a, &b, sizeof a) != 0)
		UTEST_FAIL("%.17g is not %.17g", a, b);
}

static inline void same_pairs(const struct as_pair *a, size_t na, const struct as_pair *b,
			      size_t nb)
{
	EXPECT_U64(na, nb);
	for (size_t i = 0; i < na; i++) {
		EXPECT_STR(a[i].key, b[i].key);
		EXPECT_STR(a[i].value, b[i].value);
	}
}

static inline void same_identity(const struct as_identity *a, const struct as_identity *b)
{
	EXPECT_STR(a->id, b->id);
	EXPECT_STR(a->name, b->name);
	EXPECT_STR(a->version, b->version);
	EXPECT_STR(a->kind, b->kind);
	EXPECT_STR(a->parent, b->parent);
	EXPECT_STR(a->host, b->host);
	EXPECT_STR(a->user, b->user);
	EXPECT_STR(a->cwd, b->cwd);
	EXPECT_STR(a->boot_id, b->boot_id);
	EXPECT_STR(a->git, b->git);
	EXPECT_U64(a->argc, b->argc);
	for (size_t i = 0; i < a->argc; i++)
		EXPECT_STR(a->argv[i], b->argv[i]);
	same_pairs(a->labels, a->nlabels, b->labels, b->nlabels);
	same_pairs(a->params, a->nparams, b->params, b->nparams);
	EXPECT_I64(a->start_ns, b->start_ns);
	EXPECT_I64(a->boottime_ns, b->boottime_ns);
	EXPECT_I64(a->interval_ns, b->interval_ns);
	EXPECT_I64(a->target, b->target);
	EXPECT_I64(a->cpus, b->cpus);
	EXPECT_I64(a->quota, b->quota);
	EXPECT_I64(a->memory, b->memory);
}

static inline void same_outcome(const struct as_outcome *a, const struct as_outcome *b)
{
	EXPECT_I64(a->status, b->status);
	EXPECT_I64(a->exit_code, b->exit_code);
	EXPECT_I64(a->signal, b->signal);
	EXPECT_I64(a->duration_ns, b->duration_ns);
	EXPECT_I64(a->survivors, b->survivors);
	EXPECT_I64(a->unmeasured, b->unmeasured);
	EXPECT_STR(a->error, b->error);
}

static inline void same_instance(const struct as_instance *a, const struct as_instance *b)
{
	EXPECT_I64(a->scope, b->scope);
	EXPECT_U64(a->id, b->id);
	EXPECT_U64(a->parent, b->parent);
	EXPECT_I64(a->key, b->key);
	EXPECT_STR(a->name, b->name);
	EXPECT_STR(a->detail, b->detail);
	EXPECT_I64(a->born_ns, b->born_ns);
	EXPECT_I64(a->died_ns, b->died_ns);
	EXPECT_I64(a->ended_by, b->ended_by);
	EXPECT_I64(a->tally == NULL, b->tally == NULL);
	EXPECT_I64(a->last == NULL, b->last == NULL);
	for (size_t c = 0; a->last && c < as_scope_info(a->scope)->n; c++)
		EXPECT_I64(a->last[c], b->last[c]);
	for (size_t c = 0; a->tally && c < as_scope_info(a->scope)->n; c++) {
		EXPECT_U64(a->tally[c].n, b->tally[c].n);
		same_number(a->tally[c].mean, b->tally[c].mean);
		same_number(a->tally[c].min, b->tally[c].min);
		same_number(a->tally[c].max, b->tally[c].max);
		same_number(a->tally[c].last, b->tally[c].last);
	}
}

static inline void same_cells(const int64_t *a, const int64_t *b, size_t n)
{
	EXPECT_I64(a == NULL, b == NULL);
	for (size_t i = 0; a && i < n; i++)
		EXPECT_I64(a[i], b[i]);
}

static inline void same_series(const struct as_series *a, const struct as_series *b)
{
	EXPECT_I64(a == NULL, b == NULL);
	if (!a)
		return;
	EXPECT_I64(a->scope, b->scope);
	EXPECT_U64(a->n, b->n);
	EXPECT_U64(a->joined, b->joined);
	EXPECT_U64(a->pending, b->pending);
	same_cells(a->t, b->t, a->n);
	same_cells(a->mean, b->mean, a->n * as_scope_info(a->scope)->n);
	same_cells(a->min, b->min, a->n * as_scope_info(a->scope)->n);
	same_cells(a->max, b->max, a->n * as_scope_info(a->scope)->n);
}

static inline void same_verdict(const struct as_verdict *a, const struct as_verdict *b)
{
	EXPECT_STR(a->kind, b->kind);
	EXPECT_STR(a->sentence, b->sentence);
	EXPECT_STR(a->advice, b->advice);
	same_number(a->confidence, b->confidence);
	EXPECT_U64(a->nevidence, b->nevidence);
	for (size_t i = 0; i < a->nevidence; i++) {
		EXPECT_STR(a->evidence[i].what, b->evidence[i].what);
		EXPECT_STR(a->evidence[i].value, b->evidence[i].value);
	}
}

static inline void same_run(const struct as_run *a, const struct as_run *b)
{
	same_identity(&a->who, &b->who);
	same_outcome(&a->end, &b->end);
	for (size_t t = 0; t < AS_NTOTALS; t++) {
		EXPECT_I64(a->totals[t].value, b->totals[t].value);
		EXPECT_I64(a->totals[t].how, b->totals[t].how);
		EXPECT_STR(a->totals[t].source, b->totals[t].source);
	}
	for (size_t f = 0; f < AS_NFIELDS; f++) {
		EXPECT_I64(a->origins[f].how, b->origins[f].how);
		EXPECT_STR(a->origins[f].source, b->origins[f].source);
	}
	EXPECT_U64(a->unlisted, b->unlisted);
	EXPECT_U64(a->ninstances, b->ninstances);
	for (size_t i = 0; i < a->ninstances; i++)
		same_instance(&a->instances[i], &b->instances[i]);
	for (size_t s = 0; s < AS_NSCOPES; s++)
		same_series(a->series[s], b->series[s]);
	same_verdict(&a->verdict, &b->verdict);
}
