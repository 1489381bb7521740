#pragma once
/*
 * hostile -- an input as the memory of a process that is up to no good.
 *
 * The process that is read is this one: the input is put at a fixed address,
 * and words of it that begin with 0x5050 become addresses in it, so that
 * whatever is found can point to anything.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 1 << 16 };

static const uint64_t base = UINT64_C(0x5a0000000000);

/* The input, as the memory of a process; false: there is no room for it. */
static inline bool lay_out(const uint8_t *data, size_t size)
{
	int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	unsigned char *to = mmap((void *)(uintptr_t)base, ROOM, PROT_READ | PROT_WRITE, how, -1, 0);

	if (to == MAP_FAILED)
		return false;
	memcpy(to, data, size < ROOM ? size : ROOM);
	for (size_t at = 0; at < ROOM; at += sizeof(uint64_t)) {
		uint64_t w;

		memcpy(&w, to + at, sizeof w);
		if (w >> 48 == 0x5050) {
			w = base + (w & (ROOM - 1));
			memcpy(to + at, &w, sizeof w);
		}
	}
	return true;
}
