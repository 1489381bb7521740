#include "run/sofar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

enum { SPLIT_FROM_MS = 100 };

/*
 * Which samples stand in for a total: the sum of `f` (counters: last values,
 * gauges: largest). The first row of a total whose fields are all known counts.
 */
static const struct {
	enum as_total_id total;
	enum as_field_id f[2];
	size_t n;
} stand_ins[] = {
	{AS_T_CPU_USER, {AS_F_JOB_USER}, 1},
	{AS_T_CPU_USER, {AS_F_CG_USER}, 1},
	{AS_T_CPU_SYSTEM, {AS_F_JOB_SYSTEM}, 1},
	{AS_T_CPU_SYSTEM, {AS_F_CG_SYSTEM}, 1},
	{AS_T_CPU, {AS_F_JOB_CPU}, 1},
	{AS_T_CPU, {AS_F_JOB_USER, AS_F_JOB_SYSTEM}, 2},
	{AS_T_CPU_WAIT, {AS_F_JOB_WAIT}, 1},
	{AS_T_MEM_PEAK, {AS_F_JOB_MEMORY}, 1},
	{AS_T_MEM_UPPER, {AS_F_CG_PEAK}, 1},
	{AS_T_SWAP_PEAK, {AS_F_JOB_SWAP}, 1},
	{AS_T_READ, {AS_F_JOB_READ}, 1},
	{AS_T_WRITE, {AS_F_JOB_WRITE}, 1},
	{AS_T_CANCELLED, {AS_F_JOB_CANCELLED}, 1},
	{AS_T_RCHAR, {AS_F_JOB_RCHAR}, 1},
	{AS_T_WCHAR, {AS_F_JOB_WCHAR}, 1},
	{AS_T_SYSCR, {AS_F_JOB_SYSCR}, 1},
	{AS_T_SYSCW, {AS_F_JOB_SYSCW}, 1},
	{AS_T_MINFLT, {AS_F_JOB_MINFLT}, 1},
	{AS_T_MAJFLT, {AS_F_JOB_MAJFLT}, 1},
	{AS_T_CTX_VOL, {AS_F_JOB_CTX_VOL}, 1},
	{AS_T_CTX_INV, {AS_F_JOB_CTX_INV}, 1},
	{AS_T_THROTTLED, {AS_F_CG_THROTTLED}, 1},
	{AS_T_OOM_KILLS, {AS_F_CG_OOM}, 1},
};

static int64_t sampled(const struct as_run *run, enum as_field_id f)
{
	const struct as_field *field = &as_fields[f];
	const struct as_instance *i = as_run_instance(run, field->scope, 0);
	size_t column = f - as_scope_info(field->scope)->first;

	if (!i || !i->tally || !i->tally[column].n)
		return AS_NA;
	return field->kind == AS_COUNTER ? i->last[column] : (int64_t)i->tally[column].max;
}

/* The last words are unknown only when assay could not finish the run. */
static bool unfinished(const struct as_run *run)
{
	return run->end.status == AS_RUNNING || run->end.status == AS_INTERRUPTED;
}

/* Processes that were ever told of. */
static int64_t processes(const struct as_run *run)
{
	int64_t n = 0;

	for (size_t i = 0; i < run->ninstances; i++)
		n += run->instances[i].scope == AS_PROCESS;
	return n ? n : AS_NA;
}

/* A guess is as good when it is the last of many. */
static void take_origin(const struct as_run *run, enum as_field_id f, struct as_total *t)
{
	const struct as_origin *o = &run->origins[f];

	if (o->how != AS_ATTRIBUTED && o->how != AS_MODELLED)
		return;
	t->how = o->how;
	(void)snprintf(t->source, sizeof t->source, "%s", o->source);
}

static void stand_in(const struct as_run *run, enum as_total_id id, struct as_total *t)
{
	if (id == AS_T_PROCS)
		t->value = processes(run);
	for (size_t i = 0; i < AS_LEN(stand_ins) && t->value == AS_NA; i++) {
		int64_t sum = 0;

		if (stand_ins[i].total != id)
			continue;
		for (size_t k = 0; k < stand_ins[i].n && sum != AS_NA; k++) {
			int64_t v = sampled(run, stand_ins[i].f[k]);

			sum = v == AS_NA ? AS_NA : sum + v;
		}
		for (size_t k = 0; k < stand_ins[i].n && sum != AS_NA; k++)
			take_origin(run, stand_ins[i].f[k], t);
		t->value = sum;
	}
}

struct as_total as_total_so_far(const struct as_run *run, enum as_total_id id)
{
	struct as_total t = run->totals[id], so_far = {AS_NA, AS_MEASURED, "samples"};

	if (t.value != AS_NA || !unfinished(run))
		return t;
	stand_in(run, id, &so_far);
	return so_far.value == AS_NA ? t : so_far;
}

double as_total_value(const struct as_run *run, enum as_total_id id)
{
	struct as_total t = as_total_so_far(run, id);

	return t.value == AS_NA ? (double)NAN : (double)t.value;
}

static bool one_alone(int64_t user, int64_t system)
{
	return user >= 0 && system >= 0 && (user == 0) != (system == 0) &&
	       user + system < SPLIT_FROM_MS * AS_MSEC;
}

bool as_few_ticks(const struct as_run *run)
{
	const struct as_total part = as_total_so_far(run, AS_T_CPU_USER);

	return !strcmp(part.source, AS_FEW_TICKS) ||
	       one_alone(part.value, as_total_so_far(run, AS_T_CPU_SYSTEM).value);
}

void as_doubt_split(struct as_total totals[AS_NTOTALS])
{
	struct as_total *parts[] = {&totals[AS_T_CPU_USER], &totals[AS_T_CPU_SYSTEM]};

	for (size_t i = 0; i < AS_LEN(parts) && one_alone(parts[0]->value, parts[1]->value); i++) {
		parts[i]->how = AS_ATTRIBUTED;
		(void)snprintf(parts[i]->source, sizeof parts[i]->source, "%s", AS_FEW_TICKS);
	}
}

uint64_t as_run_samples(const struct as_run *run)
{
	uint64_t most = 0;

	if (run->totals[AS_T_SELF_TICKS].value != AS_NA)
		return (uint64_t)run->totals[AS_T_SELF_TICKS].value;
	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_instance *i =
			run->series[s] ? as_run_instance(run, (enum as_scope)s, 0) : NULL;

		for (size_t c = 0; i && c < as_scope_info(i->scope)->n; c++)
			most = i->tally[c].n > most ? i->tally[c].n : most;
	}
	return most;
}
