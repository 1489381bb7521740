#pragma once
/*
 * event -- what happened to the memory of a process, in order, frees resolved.
 *
 * An allocation is known by its ordinal: how many were made in its process
 * before it. What many allocations have in common is their kind, kept once and
 * known by its number. Both ways to the sums -- while a program runs (drain.h),
 * and from a file (capture.h) -- go through these events, so they cannot differ.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_heap_kind {
	uint64_t size;           /* as asked for                                     */
	uint32_t python, native; /* nodes of the process's tree (wire/heap.h)        */
	uint32_t thread;         /* of the process, counted from 0                   */
	uint32_t op;             /* of enum as_wire_op, an allocation                */
};

enum as_heap_what {
	AS_HEAP_ALLOC,
	AS_HEAP_FREE,
	AS_HEAP_CUT, /* a part of a mapping was given back, the rest stays             */
	/*
	 * A sample that lives stands for more from now on (`becomes`), or for nothing:
	 * nothing was made or freed (preload/sample.h).
	 */
	AS_HEAP_THINNED,
};

struct as_heap_event {
	enum as_heap_what what;
	uint32_t kind;    /* of the allocation                                        */
	uint64_t ordinal; /* of the allocation                                        */
	uint64_t bytes;   /* ALLOC: its size; FREE: what was left of it; CUT: the part */
	uint64_t between; /* FREE: allocations that its thread made since             */
	int64_t ns;       /* CLOCK_MONOTONIC, to about 10 ms                          */
	/*
	 * What one sampled allocation stands for: mean bytes between samples when
	 * it was made; 0: nothing was left out.
	 */
	uint64_t rate;
	uint64_t becomes; /* THINNED: `rate` from now on; 0: no more is told of it     */
};

/* What nearly all are: of their kind's size, and none was left out. */
struct as_heap_plain {
	uint64_t ordinal;
	uint32_t kind;
	uint32_t freed; /* 0: an allocation; else 1 more than `between` */
};

/* Some of these after each other, at one moment. */
struct as_heap_batch {
	const struct as_heap_plain *at;
	size_t n;
	int64_t ns;
};

/* Allocations and bytes that one sampled allocation stands for (Horvitz-Thompson). */
struct as_heap_weight {
	double count, bytes;
	double variance; /* of the bytes */
};

struct as_heap_weight as_heap_weight(uint64_t size, uint64_t rate);
