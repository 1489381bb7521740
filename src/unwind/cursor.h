#pragma once
/*
 * cursor -- reads numbers as DWARF writes them, never past the end.
 *
 * Whatever is not there is 0, and the cursor is bad from then on.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct as_cursor {
	const uint8_t *p, *end;
	uint64_t address; /* of what is at p */
	bool bad;
};

static inline const uint8_t *as_cursor_skip(struct as_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->bad || n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->address += n;
	return p;
}

/* n bytes, at most 8, the lowest first. */
static inline uint64_t as_cursor_int(struct as_cursor *c, size_t n)
{
	const uint8_t *p = as_cursor_skip(c, n);
	uint64_t v = 0;

	for (size_t i = 0; p && i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

static inline uint8_t as_cursor_byte(struct as_cursor *c)
{
	return (uint8_t)as_cursor_int(c, 1);
}

/* Seven bits a byte; what is beyond 64 bits is lost. */
static inline uint64_t as_cursor_leb(struct as_cursor *c, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = as_cursor_byte(c);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80 && shift < 7 * 16);
	if (is_signed && b & 0x40 && shift < 64)
		v |= ~0ull << shift;
	return v;
}
