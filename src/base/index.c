#include "base/index.h"

#include <string.h>

#include "base/fault.h"

enum { FIRST = 64 };

uint32_t as_hash(uint32_t seed, const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325), word = 0;

	for (; n >= sizeof word; n -= sizeof word, b += sizeof word) {
		memcpy(&word, b, sizeof word);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	word = n;
	memcpy(&word, b, n);
	h = (h ^ word ^ (uint64_t)n << 56) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

uint32_t as_index_find(const struct as_index *x, uint32_t hash, as_index_same same,
		       const void *owner, const void *key)
{
	if (!x->n)
		return AS_NOWHERE;
	for (size_t i = hash;; i++) {
		const struct as_index_slot *s = &x->slot[i & (x->cap - 1)];

		if (!s->at)
			return AS_NOWHERE;
		if (s->hash == hash && same(owner, s->at - 1, key))
			return s->at - 1;
	}
}

static void put(struct as_index *x, struct as_index_slot it)
{
	size_t i = it.hash;

	while (x->slot[i & (x->cap - 1)].at)
		i++;
	x->slot[i & (x->cap - 1)] = it;
}

static bool grow(struct as_index *x)
{
	struct as_index wide = {.cap = x->cap ? x->cap * 2 : FIRST, .n = x->n};

	wide.slot = as_zalloc_n(wide.cap, sizeof *wide.slot);
	if (!wide.slot)
		return false;
	for (size_t i = 0; i < x->cap; i++)
		if (x->slot[i].at)
			put(&wide, x->slot[i]);
	free(x->slot);
	*x = wide;
	return true;
}

bool as_index_add(struct as_index *x, uint32_t hash, uint32_t at)
{
	if (x->n * 2 >= x->cap && !grow(x))
		return false;
	put(x, (struct as_index_slot){hash, at + 1});
	x->n++;
	return true;
}

void as_index_clear(struct as_index *x)
{
	if (x->cap)
		memset(x->slot, 0, x->cap * sizeof *x->slot);
	x->n = 0;
}

void as_index_done(struct as_index *x)
{
	free(x->slot);
	*x = (struct as_index){0};
}
