#include "report/amount.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/human.h"

static const struct as_amount_unit measures[] = {
	{"nanoseconds", "ns", 1},        {"microseconds", "ns", 1e3}, {"milliseconds", "ns", 1e6},
	{"seconds", "ns", 1e9},          {"bytes", "bytes", 1},       {"kilobytes", "bytes", 1024},
	{"megabytes", "bytes", 1 << 20}, {"count", "count", 1},
};

const struct as_amount_unit *as_amount_unit(const char *unit)
{
	for (size_t i = 0; i < AS_LEN(measures); i++)
		if (!strcmp(measures[i].unit, unit))
			return &measures[i];
	return &measures[AS_LEN(measures) - 1];
}

void as_put_amount(struct as_buf *out, const struct as_value_kind *kind, int64_t v)
{
	const struct as_amount_unit *m = as_amount_unit(kind->unit);
	double value = (double)v * m->each;

	if (!strcmp(m->shown, "ns"))
		as_buf_str(out, value < 9e18 ? as_human_duration((int64_t)value).s : "-");
	else if (!strcmp(m->shown, "bytes"))
		as_buf_str(out, as_human_bytes(value).s);
	else
		as_buf_str(out, as_human_count(value).s);
}

size_t as_profile_first_kind(const struct as_profile *p)
{
	size_t i = p->nkinds - 1;

	while (i && !strcmp(p->kind[i - 1].unit, p->kind[i].unit))
		i--;
	return i;
}

static size_t kind_named(const struct as_profile *p, const char *name)
{
	size_t i = 0;

	while (i < p->nkinds && strcmp(p->kind[i].name, name))
		i++;
	return i;
}

bool as_profile_compares(const struct as_profile *p, size_t *ret_before, size_t *ret_after)
{
	*ret_before = kind_named(p, "before");
	*ret_after = kind_named(p, "after");
	return *ret_before < p->nkinds && *ret_after < p->nkinds;
}
