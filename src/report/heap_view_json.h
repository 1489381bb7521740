#pragma once
/*
 * heap_view_json -- what the documents of all views of a heap have in common:
 * which view it is, of what, and how an amount and a place are written.
 */
#include "base/json.h"
#include "report/heap_kinds.h"

/* The document is open: its rows follow. */
void as_json_view_begin(struct as_json *j, const char *schema, const struct as_profile *p,
			const struct as_heap_how *how);
/* "bytes" and "bytes_95"; null of a kind that is not there, and where it is exact. */
void as_json_view_bytes(struct as_json *j, const char *key, const struct as_heap_kinds *k,
			int64_t bytes, int64_t variance);
void as_json_view_count(struct as_json *j, const struct as_heap_kinds *k, int64_t count);
/* Function, file and a line under that key; null of place 0, of what is not known. */
void as_json_view_place(struct as_json *j, const struct as_profile *p, uint32_t place,
			const char *key, int32_t line);
