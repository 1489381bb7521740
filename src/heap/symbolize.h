#pragma once
/*
 * symbolize -- what the native addresses of a process are called.
 *
 * Done once, at the end of a capture, while the files are what they were: who
 * reads it elsewhere, or later, has the names.
 */
#include "base/cleanup.h"
#include "base/err.h"
#include "heap/names.h"

/* What was found already: processes of a session have most of their modules in common. */
struct as_heap_symbolizer;

struct as_heap_symbolizer *as_heap_symbolizer_new(struct as_err *err);
void as_heap_symbolizer_free(struct as_heap_symbolizer *s);
/*
 * Fills n->symbol. What has no name is its module's, with where its function
 * begins; what has no file is in its module. Fails for memory only.
 */
int as_heap_symbolize(struct as_heap_symbolizer *s, struct as_heap_names *n, struct as_err *err);

static inline void as_heap_symbolizer_free_(struct as_heap_symbolizer **s)
{
	as_heap_symbolizer_free(*s);
}

#define as_auto_symbolizer as_cleanup(as_heap_symbolizer_free_)

/* The module that an address was in; NULL: none. The last that was there. */
const struct as_heap_module *as_heap_module_of(const struct as_heap_names *n, uint64_t address);
/* "libx.so+0x1234" */
void as_heap_address_name(const struct as_heap_names *n, uint64_t address, char *ret, size_t size);
