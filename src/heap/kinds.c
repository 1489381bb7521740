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

/* The slot where it is, or would be. */
static size_t seek(const struct as_kinds *k, const struct as_heap_kind *kind)
{
	size_t i = home(k, kind);

	while (k->slot[i] && memcmp(&k->kind[k->slot[i] - 1], kind, sizeof *kind))
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

static bool add(struct as_kinds *k, const struct as_heap_kind *kind)
{
	if (!as_grow(&k->kind, &k->cap, k->n, sizeof *k->kind, FIRST) ||
	    !as_grow(&k->next, &k->next_cap, k->n, sizeof *k->next, FIRST))
		return false;
	k->next[k->n] = 0;
	k->kind[k->n++] = *kind;
	return true;
}

uint32_t as_kinds_seek(struct as_kinds *k, const struct as_heap_kind *kind, bool *ret_new)
{
	*ret_new = false;
	if (k->n * SPARE >= k->nslots && !grow(k))
		return UINT32_MAX;
	uint32_t *slot = &k->slot[seek(k, kind)];

	if (!*slot) {
		if (!add(k, kind))
			return UINT32_MAX;
		*slot = (uint32_t)k->n;
		*ret_new = true;
	}
	k->next[k->last] = *slot - 1;
	k->last = *slot - 1;
	return k->last;
}

/* It may be what is thought to come next; the first is always there to be compared with. */
void as_kinds_drop(struct as_kinds *k)
{
	k->slot[seek(k, &k->kind[k->n - 1])] = 0; /* the newest: nobody was placed behind it */
	k->n--;
	for (size_t i = 0; i < k->n; i++)
		if (k->next[i] == k->n)
			k->next[i] = 0;
	k->last = 0;
}

void as_kinds_done(struct as_kinds *k)
{
	free(k->kind);
	free(k->next);
	free(k->slot);
	*k = (struct as_kinds){NULL};
}
