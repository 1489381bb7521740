#include "run/line.h"

/* The sources of each line, best first. */
static const struct {
	enum as_line line;
	struct as_metric m;
} sources[] = {
	{AS_L_CPU, {{AS_F_JOB_CPU}, 1}},
	{AS_L_CPU, {{AS_F_JOB_USER, AS_F_JOB_SYSTEM}, 2}},
	{AS_L_USER, {{AS_F_JOB_USER}, 1}},
	{AS_L_WAIT, {{AS_F_JOB_WAIT}, 1}},
	{AS_L_MEMORY, {{AS_F_JOB_MEMORY}, 1}},
	{AS_L_MEMORY, {{AS_F_CG_ANON}, 1}},
	{AS_L_MEMORY, {{AS_F_JOB_RSS}, 1}},
	{AS_L_READ, {{AS_F_JOB_READ}, 1}},
	{AS_L_READ, {{AS_F_CG_READ}, 1}},
	{AS_L_WRITE, {{AS_F_JOB_WRITE}, 1}},
	{AS_L_WRITE, {{AS_F_CG_WRITE}, 1}},
	{AS_L_READ_CALLS, {{AS_F_JOB_RCHAR}, 1}},
	{AS_L_WRITE_CALLS, {{AS_F_JOB_WCHAR}, 1}},
	{AS_L_PROCS, {{AS_F_JOB_PROCS}, 1}},
	{AS_L_THREADS, {{AS_F_JOB_THREADS}, 1}},
};

static bool known(const struct as_run *run, const struct as_metric *m)
{
	for (size_t k = 0; k < m->n; k++)
		if (!as_run_tally(run, m->f[k], 0))
			return false;
	return true;
}

const struct as_metric *as_metric_of(const struct as_run *run, enum as_line line)
{
	for (size_t i = 0; i < AS_LEN(sources); i++)
		if (sources[i].line == line && known(run, &sources[i].m))
			return &sources[i].m;
	return NULL;
}

const struct as_series *as_metric_series(const struct as_run *run, const struct as_metric *m)
{
	return run->series[as_fields[m->f[0]].scope];
}

int64_t as_metric_point(const struct as_series *s, const struct as_metric *m, size_t i, bool most)
{
	const struct as_scope_info *info = as_scope_info(s->scope);
	const int64_t *cells = most && s->max ? s->max : s->mean;
	int64_t sum = 0;

	for (size_t k = 0; k < m->n; k++) {
		int64_t v = cells[i * info->n + (size_t)(m->f[k] - info->first)];

		if (v == AS_NA)
			return AS_NA;
		sum += v;
	}
	return sum;
}

int64_t as_run_span(const struct as_run *run)
{
	int64_t end = run->end.duration_ns > 1 ? run->end.duration_ns : 1;

	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_series *p = run->series[s];

		if (p && p->n && p->t[p->n - 1] > end)
			end = p->t[p->n - 1];
	}
	return end;
}
