#pragma once
/*
 * bytes -- numbers and text as bytes, and back.
 *
 * Writing appends to a struct as_buf, which remembers a failure by itself.
 * Reading walks a struct as_bytes: the first byte that is not as it should be
 * (or not there at all) sets `bad`, and from then on every read answers 0 or
 * NULL. Decode a whole record, then look at `bad` once; nothing is ever read
 * past `end`, whatever the bytes say.
 *
 *	u64    7 bits a byte, least first, bit 7 says "more"; at most 10 bytes
 *	i64    zigzag, then as u64: 0 -1 1 -2 … are 0 1 2 3 …
 *	maybe  zigzag + 1 modulo 2^64: AS_NA, and only AS_NA, becomes 0
 *	f64    8 bytes, IEEE 754, least byte first
 *	text   u64 length + 1, then the bytes; 0 is NULL; never a NUL inside
 */
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

void as_enc_u64(struct as_buf *b, uint64_t v);
void as_enc_i64(struct as_buf *b, int64_t v);
void as_enc_maybe(struct as_buf *b, int64_t v);
void as_enc_f64(struct as_buf *b, double v);
void as_enc_u32le(struct as_buf *b, uint32_t v); /* fixed width: heads of frames */
void as_enc_text(struct as_buf *b, const char *s);

/* As a u64 at `at`, where there is room for 10 bytes; the place after it. */
static inline char *as_enc_at(char *at, uint64_t v)
{
	/*
	 * Up to 28 bits without a branch that could be guessed wrong: the groups
	 * of 7 bits are moved apart, and 4 bytes written of which some count.
	 */
	if (v < UINT64_C(1) << 28) {
		uint32_t z = (uint32_t)v, bits = 32 - (uint32_t)__builtin_clz(z | 1);
		uint32_t bytes = (bits + 6) / 7;
		uint32_t more = 0x80808080u & ((UINT32_C(1) << 8 * (bytes - 1)) - 1);

		z = (z & 0x7f) | (z & 0x3f80) << 1 | (z & 0x1fc000) << 2 | (z & 0xfe00000) << 3;
		z = htole32(z | more);
		memcpy(at, &z, sizeof z);
		return at + bytes;
	}
	for (; v >= 0x80; v >>= 7)
		*at++ = (char)(v | 0x80);
	*at++ = (char)v;
	return at;
}

/* Many i64 at once, without a call for each: start(n), n times next, stop. */
static inline char *as_enc_start(struct as_buf *b, size_t n)
{
	return n > SIZE_MAX / 10 ? NULL : as_buf_room(b, 10 * n);
}

static inline char *as_enc_next(char *at, int64_t v)
{
	return as_enc_at(at, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static inline void as_enc_stop(struct as_buf *b, const char *at)
{
	if (at)
		b->len = (size_t)(at - b->p);
}

struct as_bytes {
	const uint8_t *p, *end;
	bool bad;   /* the bytes are not what they should be             */
	bool nomem; /* they are, but memory ran out: not the file's fault */
};

static inline struct as_bytes as_bytes(const void *p, size_t n)
{
	const uint8_t *at = p;

	return (struct as_bytes){.p = at, .end = n ? at + n : at};
}

static inline size_t as_bytes_left(const struct as_bytes *b)
{
	return (size_t)(b->end - b->p);
}

uint8_t as_dec_u8(struct as_bytes *b);
uint64_t as_dec_u64(struct as_bytes *b);
int64_t as_dec_i64(struct as_bytes *b);
int64_t as_dec_maybe(struct as_bytes *b);
double as_dec_f64(struct as_bytes *b);
uint32_t as_dec_u32le(struct as_bytes *b);
/* A number below `limit`, or bad. */
uint64_t as_dec_below(struct as_bytes *b, uint64_t limit);
/* How many things follow, each of `least` bytes or more: bad when they cannot all be there. */
size_t as_dec_count(struct as_bytes *b, size_t least);
/* A piece of n bytes as a reader of its own. */
struct as_bytes as_dec_piece(struct as_bytes *b, uint64_t n);
/* The text in place, not ended by a NUL; NULL when it is NULL or bad. */
const char *as_dec_text(struct as_bytes *b, size_t *ret_len);
/* A copy, freed by the caller; NULL when it is NULL, bad, or nomem. */
char *as_dec_string(struct as_bytes *b);
/* Into an array, cut to fit and NUL-ended; NULL becomes "". */
void as_dec_chars(struct as_bytes *b, char *to, size_t size);

/* CRC-32 as in zlib, PNG and Ethernet; start with 0, feed the result back in to go on. */
uint32_t as_crc32(uint32_t crc, const void *p, size_t n);

/* Fail with what went wrong: memory, or the bytes of `what`. AS_OK when nothing did. */
int as_bytes_ok(const struct as_bytes *b, const char *what, struct as_err *err);
