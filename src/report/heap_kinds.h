#pragma once
/*
 * heap_kinds -- what the views of a heap have in common: the kinds of value
 * that are left of its profile, how amounts of them are written, the title.
 */
#include "report/heap.h"

/* Numbers of the kinds; a filter may have taken some away. */
#define AS_HEAP_NO_KIND SIZE_MAX

/* What stands for the function where there is none. */
#define AS_HEAP_NO_STACK "(no stack)"

struct as_heap_kinds {
	size_t bytes, count, variance, count_variance;
	uint64_t rate; /* that it was sampled at */
};

struct as_heap_kinds as_heap_kinds(const struct as_profile *p, uint64_t rate);
/* Of one sample, of all of them; 0 of a kind that is not there. */
int64_t as_heap_value(const struct as_sample *s, size_t kind);
int64_t as_heap_total(const struct as_profile *p, size_t kind);

/* "-" of a kind that is not there. */
void as_put_kind_bytes(struct as_buf *out, const struct as_heap_kinds *k, int64_t bytes,
		       int64_t variance);
void as_put_kind_count(struct as_buf *out, const struct as_heap_kinds *k, int64_t count);
void as_put_share(struct as_buf *out, int64_t part, int64_t whole);
/* "app/state.py:40" */
void as_put_heap_where(struct as_buf *out, const struct as_profile *p, uint32_t place, int32_t line,
		       const struct as_spelling *how);
/* "at the peak: 3.47 MiB in 57 allocations" */
void as_put_heap_title(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
		       const struct as_heap_how *how);
/* Variance of the bytes of one sample, or of many, from what the kind says. */
double as_heap_bytes_variance(int64_t variance);
/* "… and 12 more", if there are. */
void as_put_unlisted(struct as_buf *out, size_t n, size_t rows);
