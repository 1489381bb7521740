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

/* The same where there is room already: a length that is known later. */
static inline void as_set_u32le(char *at, uint32_t v)
{
	v = htole32(v);
	memcpy(at, &v, sizeof v);
}

enum { AS_ENC_MOST = 10 }; /* bytes of a number */

/*
 * As a u64 at `at`, where there is room for AS_ENC_MOST bytes; the place after it. The
 * lengths of numbers cannot be guessed, and a branch guessed wrong costs more
 * than all the rest: up to 14 and up to 28 bits the groups of 7 are moved apart,
 * and 2 or 4 bytes written of which some count.
 */
static inline char *as_enc_at14(char *at, uint32_t v)
{
	uint32_t two = v > 0x7f;
	uint16_t z = htole16((uint16_t)((v & 0x7f) | two << 7 | (v & 0x3f80) << 1));

	memcpy(at, &z, sizeof z);
	return at + 1 + two;
}

static inline char *as_enc_at28(char *at, uint32_t v)
{
	uint32_t bytes = (38 - (uint32_t)__builtin_clz(v | 1)) / 7;
	uint32_t more = 0x80808080u & ((UINT32_C(1) << 8 * (bytes - 1)) - 1);

	v = (v & 0x7f) | (v & 0x3f80) << 1 | (v & 0x1fc000) << 2 | (v & 0xfe00000) << 3;
	v = htole32(v | more);
	memcpy(at, &v, sizeof v);
	return at + bytes;
}

static inline char *as_enc_at(char *at, uint64_t v)
{
	if (v < 1u << 14)
		return as_enc_at14(at, (uint32_t)v);
	if (v < 1u << 28)
		return as_enc_at28(at, (uint32_t)v);
	for (; v >= 0x80; v >>= 7)
		*at++ = (char)(v | 0x80);
	*at++ = (char)v;
	return at;
}

static inline char *as_enc_f64_at(char *at, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	bits = htole64(bits);
	memcpy(at, &bits, sizeof bits);
	return at + sizeof bits;
}

static inline uint64_t as_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t as_unzigzag(uint64_t z)
{
	return (int64_t)(z >> 1 ^ (z & 1 ? UINT64_MAX : 0));
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
