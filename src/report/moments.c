#include "report/moments.h"

bool as_moments_next(struct as_moments *m)
{
	int64_t t = INT64_MAX;

	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_series *p = m->run->series[s];

		if (p && m->next[s] < p->n && p->t[m->next[s]] < t)
			t = p->t[m->next[s]];
	}
	if (t == INT64_MAX)
		return false;
	for (int s = 0; s < AS_NSCOPES; s++) {
		const struct as_series *p = m->run->series[s];

		m->here[s] = p && m->next[s] < p->n && p->t[m->next[s]] == t;
		m->next[s] += m->here[s];
	}
	m->t = t;
	return true;
}

bool as_moments_has(const struct as_moments *m, enum as_scope scope)
{
	return m->here[scope];
}

int64_t as_moments_cell(const struct as_moments *m, enum as_field_id f, enum as_which which)
{
	enum as_scope scope = as_fields[f].scope;
	const struct as_scope_info *info = as_scope_info(scope);
	const struct as_series *s = m->run->series[scope];

	if (!s || !m->here[scope])
		return AS_NA;
	const int64_t *cells = which == AS_LEAST && s->min  ? s->min
			       : which == AS_MOST && s->max ? s->max
							    : s->mean;
	return cells[(m->next[scope] - 1) * info->n + (size_t)(f - info->first)];
}

bool as_field_wanted(const struct as_run *run, enum as_field_id f)
{
	return run->origins[f].source[0] || as_run_tally(run, f, 0);
}

bool as_field_timed(const struct as_run *run, enum as_field_id f)
{
	return run->series[as_fields[f].scope] && as_field_wanted(run, f);
}
