#pragma once
/*
 * heap_rows -- a view of a heap by line and by what samples are told apart by:
 * what the table shows, as text and as a page.
 */
#include "report/heap_kinds.h"

struct as_heap_row {
	uint32_t place, tags; /* of the profile */
	int64_t bytes, count;
	int64_t spread; /* variance of the bytes, in KiB squared */
};

struct as_heap_rows {
	struct as_heap_row *at;
	size_t n;
	struct as_heap_kinds kinds;
	int64_t all; /* bytes of the whole; without bytes, allocations */
};

/* The most bytes first. as_heap_rows_done() follows in any case. */
int as_heap_rows(const struct as_profile *p, uint64_t rate, struct as_heap_rows *ret,
		 struct as_err *err);
void as_heap_rows_done(struct as_heap_rows *r);

/* The tag with that key; NULL: there is none. */
const struct as_tag *as_heap_tag(const struct as_profile *p, uint32_t tags, const char *key);
