#pragma once
/*
 * kinds -- each kind of allocation once, with its number.
 *
 * One look here for each allocation; base/index.h would do, were it not for
 * what a call for each comparison costs.
 */
#include "heap/event.h"

struct as_kinds {
	struct as_heap_kind *kind;
	uint32_t *slot; /* number + 1; 0 is free */
	size_t n, cap, nslots;
};

/* Its number; `ret_new`: it is the first of them. UINT32_MAX for want of memory. */
uint32_t as_kinds_number(struct as_kinds *k, const struct as_heap_kind *kind, bool *ret_new);
/* Forget the newest. */
void as_kinds_drop(struct as_kinds *k);
void as_kinds_done(struct as_kinds *k);
