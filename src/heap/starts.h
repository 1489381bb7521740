#pragma once
/*
 * starts -- where the functions of a file begin, also of one without symbols:
 * the table of .eh_frame_hdr, which unwinders search, has them in order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_starts {
	const uint8_t *file; /* mapped; NULL: it has no such table, or nobody may read it */
	size_t size;
	const uint8_t *table; /* n of (where a function begins, where its rules are): less `base` */
	uint64_t base;
	size_t n;
};

void as_starts_open(struct as_starts *s, const char *path);
/* The same of a file in memory, which stays the caller's. */
void as_starts_read(struct as_starts *s, const uint8_t *file, size_t size);
void as_starts_close(struct as_starts *s);
/* Where the function with that address of the file begins; false: nobody knows. */
bool as_starts_find(const struct as_starts *s, uint64_t address, uint64_t *ret);
