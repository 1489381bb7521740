#include "report/hdr.h"

#include <endian.h>
#include <string.h>

#include "base/bytes.h"
#include "report/gzip64.h"

enum {
	COOKIE = 0x1c849313, /* format V2, words of 9 bytes at most */
	COOKIE_PACKED = 0x1c849314,
	DIGITS = 3,
	LAST_SHIFT = 56, /* eight groups of seven bits, then a whole byte */
};

_Static_assert(AS_HISTOGRAM_BITS == 10, "three digits are 2048 values of a bucket");

/* ── numbers, most significant byte first ─────────────────────────────── */

static void put_u32(struct as_buf *b, uint32_t v)
{
	v = htobe32(v);
	as_buf_add(b, &v, sizeof v);
}

static void put_u64(struct as_buf *b, uint64_t v)
{
	v = htobe64(v);
	as_buf_add(b, &v, sizeof v);
}

/* Zigzag, seven bits a byte, of which there are nine at most: the last has eight. */
static void put_count(struct as_buf *b, int64_t v)
{
	uint64_t z = as_zigzag(v);
	unsigned shift = 0;

	for (; z >> shift > 0x7f && shift < LAST_SHIFT; shift += 7)
		as_buf_byte(b, (char)((z >> shift & 0x7f) | 0x80));
	as_buf_byte(b, (char)(z >> shift));
}

/* ── the counts, and what stands before them ──────────────────────────── */

/* A run of empty buckets is one number below zero. */
static void put_counts(struct as_buf *b, const struct as_histogram *h)
{
	size_t last = h->n ? as_bucket_of((uint64_t)h->max, AS_HISTOGRAM_BITS) : 0;
	int64_t empty = 0;

	for (size_t i = 0; i <= last; i++) {
		if (!h->count[i]) {
			empty++;
			continue;
		}
		if (empty)
			put_count(b, -empty);
		empty = 0;
		put_count(b, (int64_t)h->count[i]);
	}
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

static void put_plain(struct as_buf *b, const struct as_histogram *h, const struct as_buf *counts)
{
	put_u32(b, COOKIE);
	put_u32(b, (uint32_t)counts->len);
	put_u32(b, 0); /* no offset of indexes */
	put_u32(b, DIGITS);
	put_u64(b, 1);
	put_u64(b, (uint64_t)(h->max > 2 ? h->max : 2));
	put_u64(b, bits_of(1.0)); /* counts are of the values themselves */
	as_buf_add(b, counts->p, counts->len);
}

void as_put_hdr(struct as_buf *out, const struct as_histogram *h)
{
	as_auto_buf struct as_buf counts = AS_BUF(AS_BUF_FILE), plain = AS_BUF(AS_BUF_FILE),
				  packed = AS_BUF(AS_BUF_FILE), all = AS_BUF(AS_BUF_FILE);

	put_counts(&counts, h);
	put_plain(&plain, h, &counts);
	as_put_zlib(&packed, plain.p, plain.len);
	put_u32(&all, COOKIE_PACKED);
	put_u32(&all, (uint32_t)packed.len);
	as_buf_add(&all, packed.p, packed.len);
	as_put_base64(out, all.p, all.len);
	out->bad |= counts.bad | plain.bad | packed.bad | all.bad;
}
