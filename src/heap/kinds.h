#pragma once
/*
 * kinds -- each kind of allocation once, with its number.
 *
 * One look here for each allocation. Programs repeat themselves: mostly it is the
 * kind that came after the one before the last time, too, and nothing is looked up.
 */
#include <string.h>

#include "heap/event.h"

struct as_kinds {
	struct as_heap_kind *kind;
	uint32_t *next; /* by number: which one came after it last time */
	uint32_t *slot; /* number + 1; 0 is free */
	size_t n, cap, next_cap, nslots;
	uint32_t last; /* that was asked for */
};

_Static_assert(sizeof(struct as_heap_kind) == 24, "kinds are compared as they are, byte by byte");

/* Its number; `ret_new`: it is the first of them. UINT32_MAX for want of memory. */
uint32_t as_kinds_seek(struct as_kinds *k, const struct as_heap_kind *kind, bool *ret_new);

static inline uint32_t as_kinds_number(struct as_kinds *k, const struct as_heap_kind *kind,
				       bool *ret_new)
{
	uint32_t guess = k->n ? k->next[k->last] : 0;

	if (!k->n || memcmp(&k->kind[guess], kind, sizeof *kind))
		return as_kinds_seek(k, kind, ret_new);
	*ret_new = false;
	k->last = guess;
	return guess;
}

/* Forget the newest. */
void as_kinds_drop(struct as_kinds *k);
void as_kinds_done(struct as_kinds *k);
