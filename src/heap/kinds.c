#include "heap/kinds.h"

#include "base/fault.h"

enum {
	FIRST = 32,
	SPARE = 4, /* slots for each: they are small, and a collision costs more */
};

/* Three products that do not wait for each other. */
static size_t home(const struct as_kinds *k, const struct as_heap_kind *kind)
{
	uint64_t h = kind->size * UINT64_C(0x9e3779b97f4a7c15);

	h ^= ((uint64_t)kind->python << 32 | kind->native) * UINT64_C(0xd6e8feb86659fd93);
	h ^= ((uint64_t)kind->thread << 32 | kind->op) * UINT64_C(0xa0761d6478bd642f);
	h ^= h >> 32;
	return (h * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (k->nslots - 1);
}

static bool same(const struct as_heap_kind *a, const struct as_heap_kind *b)
{
	return a->size == b->size && a->python == b->python && a->native == b->native &&
	       a->thread == b->thread && a->op == b->op;
}

/* The slot where it is, or would be. */
static size_t seek(const struct as_kinds *k, const struct as_heap_kind *kind)
{
	size_t i = home(k, kind);

	while (k->slot[i] && !same(&k->kind[k->slot[i] - 1], kind))
		i = (i + 1) & (k->nslots - 1);
	return i;
}

static bool grow(struct as_kinds *k)
{
	size_t want = k->nslots ? k->nslots * 2 : (size_t)FIRST * SPARE;
	uint32_t *slot = as_zalloc_n(want, sizeof *slot);

	if (!slot)
		return false;
	free(k->slot);
	k->slot = slot;
	k->nslots = want;
	for (size_t i = 0; i < k->n; i++)
		slot[seek(k, &k->kind[i])] = (uint32_t)i + 1;
	return true;
}

uint32_t as_kinds_number(struct as_kinds *k, const struct as_heap_kind *kind, bool *ret_new)
{
	*ret_new = false;
	if (k->n * SPARE >= k->nslots && !grow(k))
		return UINT32_MAX;
	uint32_t *slot = &k->slot[seek(k, kind)];

	if (*slot)
		return *slot - 1;
	if (!as_grow(&k->kind, &k->cap, k->n, sizeof *k->kind, FIRST))
		return UINT32_MAX;
	k->kind[k->n++] = *kind;
	*slot = (uint32_t)k->n;
	*ret_new = true;
	return *slot - 1;
}

void as_kinds_drop(struct as_kinds *k)
{
	k->slot[seek(k, &k->kind[k->n - 1])] = 0; /* the newest: nobody was placed behind it */
	k->n--;
}

void as_kinds_done(struct as_kinds *k)
{
	free(k->kind);
	free(k->slot);
	*k = (struct as_kinds){NULL};
}
