#pragma once
/*
 * index -- finds again what an array holds, by its content.
 *
 * The things stay in an array of their owner, known by their place in it; the
 * index knows for a hash which places to look at. What is looked for and what
 * is there are compared by the owner.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_NOWHERE UINT32_MAX

struct as_index {
	struct as_index_slot {
		uint32_t hash;
		uint32_t at; /* place + 1; 0 is free */
	} * slot;
	size_t cap, n;
};

/* Is the thing at this place the one that is meant by `key`? */
typedef bool (*as_index_same)(const void *owner, uint32_t at, const void *key);

/* Where it is, or AS_NOWHERE. */
uint32_t as_index_find(const struct as_index *x, uint32_t hash, as_index_same same,
		       const void *owner, const void *key);
/* It is at `at` from now on. False for want of memory: nothing has changed. */
bool as_index_add(struct as_index *x, uint32_t hash, uint32_t at);
void as_index_clear(struct as_index *x); /* empty, keeps memory */
void as_index_done(struct as_index *x);

/* A hash of bytes; `seed` makes one of several parts. */
uint32_t as_hash(uint32_t seed, const void *p, size_t n);
