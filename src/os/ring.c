#include "os/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map(int fd, size_t len, int prot, size_t at)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, (off_t)at);

	return p == MAP_FAILED ? NULL : p;
}

int as_ring_open(struct as_ring *ring, int map_fd, size_t size, struct as_err *err)
{
	*ring = (struct as_ring){.fd = map_fd, .size = size};
	ring->mine = map(map_fd, page(), PROT_READ | PROT_WRITE, 0);
	if (ring->mine)
		ring->kernels = map(map_fd, page() + size, PROT_READ, page());
	if (ring->kernels)
		return AS_OK;
	int os = errno;
	as_ring_close(ring);
	return as_fail_errno(err, os, "map the BPF ring buffer");
}

void as_ring_close(struct as_ring *ring)
{
	if (ring->mine)
		(void)munmap(ring->mine, page());
	if (ring->kernels)
		(void)munmap(ring->kernels, page() + ring->size);
	*ring = (struct as_ring){0};
}

/* `len` bytes at place `at`, where they lie or, if the end of the ring cuts them, in `whole`. */
static const void *piece(struct as_ring *ring, uint64_t at, size_t len)
{
	const char *data = (const char *)ring->kernels + page();
	size_t from = at & (ring->size - 1), first = ring->size - from;

	if (first >= len)
		return data + from;
	memcpy(ring->whole, data + from, first);
	memcpy(ring->whole + first, data, len - first);
	return ring->whole;
}

void as_ring_drain(struct as_ring *ring, as_ring_fn *fn, void *data)
{
	uint64_t *mine = ring->mine, *kernels = ring->kernels;
	uint64_t at = *mine, end = __atomic_load_n(kernels, __ATOMIC_ACQUIRE);

	while (at < end) {
		const uint32_t *header = piece(ring, at, sizeof(uint64_t));
		uint32_t len = __atomic_load_n(header, __ATOMIC_ACQUIRE);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		bool keep = !(len & BPF_RINGBUF_DISCARD_BIT);
		len &= ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
		if (keep && len <= AS_RING_RECORD)
			fn(data, piece(ring, at + BPF_RINGBUF_HDR_SZ, len), len);
		at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
		__atomic_store_n(mine, at, __ATOMIC_RELEASE);
	}
}
