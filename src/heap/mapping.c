#include "heap/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fault.h"

enum { ALIGN = 64 << 10 }; /* the largest page that a machine has */

#define ALIGNED(n) (((size_t)(n) + ALIGN - 1) / ALIGN * ALIGN)
#define NODES_AT   ALIGNED(sizeof(struct as_wire_heap))
#define NOTES_AT   (NODES_AT + ALIGNED((size_t)AS_WIRE_NODES * sizeof(struct as_wire_node)))
#define RINGS_AT   (NOTES_AT + ALIGNED(AS_WIRE_NOTES))

size_t as_mapping_ring_size(uint32_t ring)
{
	return ring < AS_WIRE_HEAP_WIDE ? AS_WIRE_RING_WIDE : AS_WIRE_RING_NARROW;
}

size_t as_mapping_ring_at(uint32_t ring)
{
	size_t wide = ring < AS_WIRE_HEAP_WIDE ? ring : AS_WIRE_HEAP_WIDE;

	return RINGS_AT + wide * AS_WIRE_RING_WIDE + (ring - wide) * AS_WIRE_RING_NARROW;
}

size_t as_mapping_bytes(void)
{
	return as_mapping_ring_at(AS_WIRE_HEAP_RINGS);
}

const struct as_wire_node *as_mapping_nodes(const struct as_mapping *m)
{
	return (const void *)((const char *)m->heap + NODES_AT);
}

const uint8_t *as_mapping_notes(const struct as_mapping *m)
{
	return (const uint8_t *)m->heap + NOTES_AT;
}

void as_mapping_describe(struct as_wire_heap *heap)
{
	heap->magic = AS_WIRE_HEAP_MAGIC;
	heap->bytes = as_mapping_bytes();
	heap->nodes_at = NODES_AT;
	heap->notes_at = NOTES_AT;
	atomic_store_explicit(&heap->nnodes, 1, memory_order_relaxed);
	for (uint32_t i = 0; i < AS_WIRE_HEAP_RINGS; i++) {
		heap->ring[i].at = as_mapping_ring_at(i);
		heap->ring[i].size = (uint32_t)as_mapping_ring_size(i);
	}
}

static int new_file(const char *name, size_t bytes)
{
	as_auto_fd int fd = as_fault() ? -1 : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -1;
	return as_take_fd(fd);
}

void *as_mapping_file(const char *name, size_t bytes, int *ret_fd, struct as_err *err)
{
	as_auto_fd int fd = new_file(name, bytes);

	if (fd < 0) {
		(void)as_fail_errno(err, errno, "make memory to share");
		return NULL;
	}
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		(void)as_fail_errno(err, errno, "map memory to share");
		return NULL;
	}
	*ret_fd = as_take_fd(fd);
	return p;
}

int as_mapping_open(struct as_mapping *m, struct as_err *err)
{
	m->heap = as_mapping_file("assay-heap", as_mapping_bytes(), &m->fd, err);
	if (!m->heap)
		return err->code;
	as_mapping_describe(m->heap);
	return AS_OK;
}

void as_mapping_close(struct as_mapping *m)
{
	if (m->heap)
		(void)munmap(m->heap, as_mapping_bytes());
	as_close_(&m->fd);
	*m = (struct as_mapping){.fd = -1};
}

int64_t as_mapping_there(const struct as_mapping *m)
{
	enum { BLOCK = 512 };
	struct stat s;

	if (m->fd < 0)
		return 0;
	return fstat(m->fd, &s) < 0 ? -1 : (int64_t)s.st_blocks * BLOCK;
}
