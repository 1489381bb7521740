#include "heap/variants.h"

#include "base/fault.h"

static bool same(const void *owner, uint32_t at, const void *key)
{
	const struct as_variant *there = &((const struct as_variants *)owner)->at[at], *v = key;

	return there->kind == v->kind && there->rate == v->rate;
}

bool as_variants_add(struct as_variants *v, uint32_t kind, uint64_t rate)
{
	if (v->n >= AS_NOWHERE || !as_grow(&v->at, &v->cap, v->n, sizeof *v->at, 64))
		return false;
	v->at[v->n++] = (struct as_variant){.rate = rate, .kind = kind};
	return true;
}

uint32_t as_variants_number(struct as_variants *v, uint32_t kind, uint64_t rate, bool *ret_new)
{
	const struct as_variant key = {.rate = rate, .kind = kind};
	uint32_t hash = as_hash(as_hash(1, &kind, sizeof kind), &rate, sizeof rate),
		 at = as_index_find(&v->index, hash, same, v, &key);

	*ret_new = at == AS_NOWHERE;
	if (at != AS_NOWHERE)
		return at;
	if (!as_variants_add(v, kind, rate))
		return AS_NOWHERE;
	at = (uint32_t)v->n - 1;
	return as_index_add(&v->index, hash, at) ? at : AS_NOWHERE;
}

void as_variants_done(struct as_variants *v)
{
	free(v->at);
	as_index_done(&v->index);
	*v = (struct as_variants){0};
}
