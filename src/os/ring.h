#pragma once
/*
 * ring -- reading a BPF ring buffer: the kernel writes, we follow.
 *
 * Two counters run along the ring, ours and the kernel's; between them lie
 * records, each with a header of 8 bytes. The usual way maps the ring twice in a
 * row so that no record is ever cut in two; we map it once and put a cut record
 * together in `whole`, which halves the memory that counts as ours.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { AS_RING_RECORD = 512 }; /* bytes that a record may have */

struct as_ring {
	int fd;        /* the map's; polls readable; not ours to close */
	size_t size;   /* of the data, a power of two                  */
	void *mine;    /* a page: how far we have read                 */
	void *kernels; /* a page: how far it has written; then the data */
	_Alignas(8) char whole[AS_RING_RECORD];
};

typedef void as_ring_fn(void *data, const void *record, size_t len);

/* A ring that was never opened is all zeros. */
int as_ring_open(struct as_ring *ring, int map_fd, size_t size, struct as_err *err);
/* Every record that is complete; the memory given to `fn` is good during the call only. */
void as_ring_drain(struct as_ring *ring, as_ring_fn *fn, void *data);
void as_ring_close(struct as_ring *ring);
