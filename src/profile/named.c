#include "profile/named.h"

#include <string.h>

static bool is(const struct as_profile *p, uint32_t stack, const char *name)
{
	return !strcmp(p->text[p->place[p->stack[stack].place].function], name);
}

struct as_named as_profile_named(const struct as_profile *p, size_t kind, const char *name)
{
	struct as_named sum = {.of = as_profile_total(p, kind)};

	for (size_t i = 0; i < p->nsamples; i++) {
		uint32_t stack = p->sample[i].stack;

		sum.self = as_value_plus(sum.self,
					 stack && is(p, stack, name) ? p->sample[i].v[kind] : 0);
		while (stack && !is(p, stack, name))
			stack = p->stack[stack].caller;
		sum.total = as_value_plus(sum.total, stack ? p->sample[i].v[kind] : 0);
	}
	return sum;
}
