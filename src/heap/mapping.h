#pragma once
/*
 * mapping -- the memory that a guest and we share, made by us.
 *
 * Where things are in it is known from the constants of wire/heap.h: what the
 * mapping itself says of that is for the guest and never read here. Its file
 * is sealed, so nobody can make it shorter under our feet.
 */
#include <stddef.h>

#include "base/err.h"
#include "wire/heap.h"

struct as_mapping {
	struct as_wire_heap *heap; /* the whole of it begins here */
	int fd;                    /* for the guest; -1: given    */
};

/* A file in memory, `bytes` long for ever, mapped; *ret_fd is the caller's. */
void *as_mapping_file(const char *name, size_t bytes, int *ret_fd, struct as_err *err);
int as_mapping_open(struct as_mapping *m, struct as_err *err);
void as_mapping_close(struct as_mapping *m);
/* Say in the mapping where things are: magic, bytes, nodes_at, notes_at, rings. */
void as_mapping_describe(struct as_wire_heap *heap);

/* Bytes of it that there are, whoever touched them; -1: unknown. */
int64_t as_mapping_there(const struct as_mapping *m);

size_t as_mapping_bytes(void);
size_t as_mapping_ring_size(uint32_t ring);
size_t as_mapping_ring_at(uint32_t ring);
const struct as_wire_node *as_mapping_nodes(const struct as_mapping *m);
const uint8_t *as_mapping_notes(const struct as_mapping *m);

/* A word that somebody else may change: read once. */
static inline uint64_t as_mapping_word(const void *p)
{
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}
