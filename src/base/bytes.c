#include "base/bytes.h"

#include <string.h>

#include "base/fault.h"

enum { VARINT_MAX = 10 };

/* ── writing ──────────────────────────────────────────────────────────── */

/* as_buf_room() for a number, without the call when there is plenty. */
static inline char *number_room(struct as_buf *b)
{
	if (!b->bad && b->cap - b->len > VARINT_MAX && b->max - b->len >= VARINT_MAX)
		return b->p + b->len;
	return as_buf_room(b, VARINT_MAX);
}

void as_enc_u64(struct as_buf *b, uint64_t v)
{
	char *at = number_room(b);

	if (at)
		b->len = (size_t)(as_enc_at(at, v) - b->p);
}

void as_enc_i64(struct as_buf *b, int64_t v)
{
	as_enc_u64(b, as_zigzag(v));
}

void as_enc_maybe(struct as_buf *b, int64_t v)
{
	as_enc_u64(b, as_zigzag(v) + 1); /* zigzag(INT64_MIN) is the largest: it wraps to 0 */
}

void as_enc_f64(struct as_buf *b, double v)
{
	char *at = number_room(b);

	if (at)
		b->len = (size_t)(as_enc_f64_at(at, v) - b->p);
}

void as_enc_u32le(struct as_buf *b, uint32_t v)
{
	char *at = number_room(b);

	if (!at)
		return;
	as_set_u32le(at, v);
	b->len += sizeof v;
}

void as_enc_text(struct as_buf *b, const char *s)
{
	as_enc_u64(b, s ? strlen(s) + 1 : 0);
	if (s)
		as_buf_str(b, s);
}

/* ── reading ──────────────────────────────────────────────────────────── */

static uint64_t bad(struct as_bytes *b)
{
	b->bad = true;
	b->p = b->end;
	return 0;
}

uint8_t as_dec_u8(struct as_bytes *b)
{
	return b->p < b->end ? *b->p++ : (uint8_t)bad(b);
}

uint64_t as_dec_u64(struct as_bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 7 * VARINT_MAX; shift += 7) {
		if (b->p == b->end)
			return bad(b);
		uint8_t c = *b->p++;
		if (shift == 63 && c > 1)
			return bad(b); /* more than 64 bits */
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
	return bad(b);
}

int64_t as_dec_i64(struct as_bytes *b)
{
	return as_unzigzag(as_dec_u64(b));
}

int64_t as_dec_maybe(struct as_bytes *b)
{
	return as_unzigzag(as_dec_u64(b) - 1);
}

static uint64_t unfixed(struct as_bytes *b, size_t n)
{
	uint64_t v = 0;

	if (as_bytes_left(b) < n)
		return bad(b);
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)*b->p++ << 8 * i;
	return v;
}

double as_dec_f64(struct as_bytes *b)
{
	uint64_t bits = unfixed(b, sizeof bits);
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

uint32_t as_dec_u32le(struct as_bytes *b)
{
	return (uint32_t)unfixed(b, sizeof(uint32_t));
}

uint64_t as_dec_below(struct as_bytes *b, uint64_t limit)
{
	uint64_t v = as_dec_u64(b);

	return v < limit ? v : bad(b);
}

size_t as_dec_count(struct as_bytes *b, size_t least)
{
	uint64_t n = as_dec_u64(b);

	return n <= as_bytes_left(b) / least ? (size_t)n : (size_t)bad(b);
}

struct as_bytes as_dec_piece(struct as_bytes *b, uint64_t n)
{
	if (n > as_bytes_left(b)) {
		(void)bad(b);
		return (struct as_bytes){.p = b->end, .end = b->end, .bad = true};
	}
	b->p += n;
	return as_bytes(b->p - n, (size_t)n);
}

const char *as_dec_text(struct as_bytes *b, size_t *ret_len)
{
	uint64_t n = as_dec_u64(b);

	*ret_len = 0;
	if (!n)
		return NULL;
	if (n - 1 > as_bytes_left(b) || (n > 1 && memchr(b->p, '\0', (size_t)n - 1))) {
		(void)bad(b);
		return NULL;
	}
	*ret_len = (size_t)n - 1;
	b->p += *ret_len;
	return (const char *)b->p - *ret_len;
}

char *as_dec_string(struct as_bytes *b)
{
	size_t n;
	const char *s = as_dec_text(b, &n);
	char *copy = s ? as_strndup(s, n) : NULL;

	if (s && !copy) {
		b->nomem = true;
		(void)bad(b);
	}
	return copy;
}

void as_dec_chars(struct as_bytes *b, char *to, size_t size)
{
	size_t n;
	const char *s = as_dec_text(b, &n);

	if (n > size - 1)
		n = size - 1;
	if (s)
		memcpy(to, s, n);
	memset(to + n, 0, size - n);
}

int as_bytes_ok(const struct as_bytes *b, const char *what, struct as_err *err)
{
	if (b->nomem)
		return as_fail(err, AS_ENOMEM, "no memory to read %s", what);
	if (b->bad)
		return as_fail(err, AS_EFORMAT, "%s is damaged", what);
	return AS_OK;
}

/* ── checksum ─────────────────────────────────────────────────────────── */

/*
 * By the half byte: [N] is what comes of one with N more behind it, so 8 of them are
 * done at once and none waits for another, with 128 constants instead of 2,048.
 * zlib has the same sum, but this would be the only reason to load it at every start.
 */
static const uint32_t crc_of_nibble[8][16] = {
	{0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
	 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
	 0xa00ae278, 0xbdbdf21c},
	{0x00000000, 0x77073096, 0xee0e612c, 0x990951ba, 0x076dc419, 0x706af48f, 0xe963a535,
	 0x9e6495a3, 0x0edb8832, 0x79dcb8a4, 0xe0d5e91e, 0x97d2d988, 0x09b64c2b, 0x7eb17cbd,
	 0xe7b82d07, 0x90bf1d91},
	{0x00000000, 0x4ac21251, 0x958424a2, 0xdf4636f3, 0xf0794f05, 0xbabb5d54, 0x65fd6ba7,
	 0x2f3f79f6, 0x3b83984b, 0x71418a1a, 0xae07bce9, 0xe4c5aeb8, 0xcbfad74e, 0x8138c51f,
	 0x5e7ef3ec, 0x14bce1bd},
	{0x00000000, 0x191b3141, 0x32366282, 0x2b2d53c3, 0x646cc504, 0x7d77f445, 0x565aa786,
	 0x4f4196c7, 0xc8d98a08, 0xd1c2bb49, 0xfaefe88a, 0xe3f4d9cb, 0xacb54f0c, 0xb5ae7e4d,
	 0x9e832d8e, 0x87981ccf},
	{0x00000000, 0x1c26a370, 0x384d46e0, 0x246be590, 0x709a8dc0, 0x6cbc2eb0, 0x48d7cb20,
	 0x54f16850, 0xe1351b80, 0xfd13b8f0, 0xd9785d60, 0xc55efe10, 0x91af9640, 0x8d893530,
	 0xa9e2d0a0, 0xb5c473d0},
	{0x00000000, 0x01c26a37, 0x0384d46e, 0x0246be59, 0x0709a8dc, 0x06cbc2eb, 0x048d7cb2,
	 0x054f1685, 0x0e1351b8, 0x0fd13b8f, 0x0d9785d6, 0x0c55efe1, 0x091af964, 0x08d89353,
	 0x0a9e2d0a, 0x0b5c473d},
	{0x00000000, 0x5019579f, 0xa032af3e, 0xf02bf8a1, 0x9b14583d, 0xcb0d0fa2, 0x3b26f703,
	 0x6b3fa09c, 0xed59b63b, 0xbd40e1a4, 0x4d6b1905, 0x1d724e9a, 0x764dee06, 0x2654b999,
	 0xd67f4138, 0x866616a7},
	{0x00000000, 0xb8bc6765, 0xaa09c88b, 0x12b5afee, 0x8f629757, 0x37def032, 0x256b5fdc,
	 0x9dd738b9, 0xc5b428ef, 0x7d084f8a, 0x6fbde064, 0xd7018701, 0x4ad6bfb8, 0xf26ad8dd,
	 0xe0df7733, 0x58631056},
};

static uint32_t crc_of_word(uint32_t word)
{
	uint32_t crc = 0;

	for (int i = 0; i < 8; i++)
		crc ^= crc_of_nibble[7 - i][word >> 4 * i & 15];
	return crc;
}

uint32_t as_crc32(uint32_t crc, const void *p, size_t n)
{
	const uint8_t *at = p;
	uint32_t word;

	crc = ~crc;
	for (; n >= sizeof word; at += sizeof word, n -= sizeof word) {
		memcpy(&word, at, sizeof word);
		crc = crc_of_word(crc ^ le32toh(word));
	}
	for (size_t i = 0; i < n; i++) {
		crc ^= at[i];
		crc = crc >> 4 ^ crc_of_nibble[0][crc & 15];
		crc = crc >> 4 ^ crc_of_nibble[0][crc & 15];
	}
	return ~crc;
}
