/*
 * The collectors, in the order in which they are asked. A later one knows the
 * totals better: what the control group has counted needs no adding up.
 */
#include <stdarg.h>
#include <stdio.h>

#include "collect/collector.h"

#define COLLECTORS(X) X(system) X(cores) X(psi) X(tree) X(cgroup) X(net) X(devices) X(files)

#define X(name) extern const struct as_collector as_collect_##name;
COLLECTORS(X)
#undef X

const struct as_collector *const as_collectors[] = {
#define X(name) &as_collect_##name,
	COLLECTORS(X)
#undef X
		NULL,
};

void as_collect_origin(const struct as_collect *c, enum as_field_id f, enum as_provenance how,
		       const char *fmt, ...)
{
	struct as_origin o = {.how = how};
	va_list ap;

	if (!c->want->field[f])
		return; /* nobody asked */
	va_start(ap, fmt);
	(void)vsnprintf(o.source, sizeof o.source, fmt, ap);
	va_end(ap);
	as_tee_origin(c->sink, f, &o);
}

void as_collect_origins(const struct as_collect *c, enum as_scope scope, enum as_group group,
			enum as_provenance how, const char *fmt, ...)
{
	struct as_origin o = {.how = how};
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(o.source, sizeof o.source, fmt, ap);
	va_end(ap);
	for (enum as_field_id f = 0; f < AS_NFIELDS; f++)
		if (as_fields[f].scope == scope && as_fields[f].group == group && c->want->field[f])
			as_tee_origin(c->sink, f, &o);
}

void as_total_set(struct as_total *totals, enum as_total_id id, int64_t value,
		  enum as_provenance how, const char *fmt, ...)
{
	struct as_total *t = &totals[id];
	va_list ap;

	t->value = value;
	t->how = how;
	va_start(ap, fmt);
	(void)vsnprintf(t->source, sizeof t->source, fmt, ap);
	va_end(ap);
}
