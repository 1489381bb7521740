#include "run/busy.h"

#include <math.h>

/* The job's CPU time at a moment, between the two points around it; NaN: not known. */
static double cpu_at(const struct as_series *s, int64_t t)
{
	size_t n = as_scope_info(AS_JOB)->n, column = AS_F_JOB_CPU - as_scope_info(AS_JOB)->first;
	size_t i = 0;

	while (i < s->n && s->t[i] < t)
		i++;
	if (!s->n || i == s->n)
		i = s->n ? s->n - 1 : 0;
	if (!s->n || s->mean[i * n + column] == AS_NA)
		return NAN;
	double after = (double)s->mean[i * n + column];
	if (!i || s->t[i] <= t || s->mean[(i - 1) * n + column] == AS_NA)
		return after;
	double before = (double)s->mean[(i - 1) * n + column];
	return before +
	       (after - before) * (double)(t - s->t[i - 1]) / (double)(s->t[i] - s->t[i - 1]);
}

bool as_run_busy(const struct as_run *run, int64_t from_ns, int64_t to_ns)
{
	const struct as_series *s = run->series[AS_JOB];

	if (!s || !s->n || from_ns >= s->t[s->n - 1])
		return true;
	int64_t end = to_ns < s->t[s->n - 1] ? to_ns : s->t[s->n - 1];
	double used = cpu_at(s, end) - cpu_at(s, from_ns);
	return !(used < AS_BUSY_LEAST * (double)(end - from_ns));
}
