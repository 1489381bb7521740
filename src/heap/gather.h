#pragma once
/*
 * gather -- from the kinds of processes to sites with names: what a heap is made of.
 *
 * The file's reader, and whoever looks at processes that still run, tell the
 * processes one by one in the order of their numbers; sums are then added to
 * the sites of their kinds.
 */
#include "heap/heap.h"
#include "heap/names.h"

/* A heap without processes, with an empty tree of stacks; as_heap_free() it. */
struct as_heap *as_gather_new(struct as_err *err);

/*
 * One process more, with its threads, and the site of each of its kinds: those
 * that differ in size only have the same. All of it is copied.
 */
int as_gather_process(struct as_heap *h, const struct as_heap_process *p,
		      const struct as_heap_names *n, const struct as_heap_kind *kind, size_t nkinds,
		      uint32_t *ret_site, struct as_err *err);

/*
 * The same of one that still grows: the names stay the caller's, who may add to
 * them between two calls. `kind` is all of them, those of earlier calls first.
 */
struct as_gatherer;

int as_gather_open(struct as_heap *h, const struct as_heap_process *p,
		   const struct as_heap_names *n, struct as_gatherer **ret, struct as_err *err);
int as_gather_more(struct as_gatherer *g, const struct as_heap_kind *kind, size_t nkinds,
		   struct as_err *err);
struct as_heap_site *as_gather_site(const struct as_gatherer *g, size_t kind);
void as_gather_close(struct as_gatherer *g);

/* What one kind had: to the site of it. */
void as_gather_sums(struct as_heap *h, struct as_heap_site *to, const struct as_heap_kind *k,
		    const struct as_heap_sums *s);
/* Made, freed and left of one process more; its peak is not a part of theirs. */
void as_gather_totals(struct as_heap_totals *to, const struct as_heap_totals *t);
int as_gather_point(struct as_heap *h, const struct as_heap_point *p, struct as_err *err);
