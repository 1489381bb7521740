#include "store/column.h"

#include "run/field.h"

enum { KNOWN = 1, VARYING = 2, HOLES = 4, PACKED = 8 };

/* Differences are taken modulo 2^64: every int64_t comes back as it was. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t base_at(const int64_t *base, size_t i)
{
	return !base || base[i] == AS_NA ? 0 : base[i];
}

static size_t block_of(size_t left)
{
	return left < AS_COLUMN_BLOCK ? left : AS_COLUMN_BLOCK;
}

/* ── the grain ────────────────────────────────────────────────────────── */

/*
 * Dividing by the same odd number again and again: what it divides is divided
 * by multiplying with its inverse modulo 2^64, and everything else becomes
 * larger than any quotient can be. So no value costs a division.
 */
struct divisor {
	uint64_t by, inverse, most;
};

static struct divisor divisor(uint64_t odd)
{
	uint64_t x = odd * 3 ^ 2; /* right in its 5 lowest bits; each round doubles them */

	for (int round = 0; round < 4; round++)
		x *= 2 - odd * x;
	return (struct divisor){.by = odd, .inverse = x, .most = UINT64_MAX / odd};
}

static uint64_t size_of(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static uint64_t without_twos(uint64_t v)
{
	return v >> __builtin_ctzll(v);
}

/* Of odd numbers. */
static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (a != b) {
		uint64_t more = a > b ? a : b, less = a > b ? b : a;

		a = without_twos(more - less);
		b = less;
	}
	return a;
}

static uint64_t least_of(const int64_t *d, size_t n)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		uint64_t size = size_of(d[i]) - 1; /* 0 becomes the largest */

		least = size < least ? size : least;
	}
	return least + 1;
}

/* The largest odd number that divides all differences, which are not all 0. */
static struct divisor odd_grain(const int64_t *d, size_t n)
{
	struct divisor g = divisor(without_twos(least_of(d, n)));

	for (size_t i = 0; i < n && g.by > 1; i++)
		if (size_of(d[i]) * g.inverse > g.most)
			g = divisor(gcd(without_twos(size_of(d[i])), g.by));
	return g;
}

/* ── writing ──────────────────────────────────────────────────────────── */

/* The known values side by side. */
static size_t gather(int64_t *to, const int64_t *v, size_t n, size_t step)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++, v += step) {
		to[known] = *v;
		known += *v != AS_NA;
	}
	return known;
}

static size_t gather_from(int64_t *to, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		to[known] = minus(v[i * step], base_at(base, i * step));
		known += v[i * step] != AS_NA;
	}
	return known;
}

/* Values become their differences; all bits that are set in any of them. */
static uint64_t differ(int64_t *v, size_t n)
{
	uint64_t any = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = minus(v[i + 1], v[i]);
		any |= (uint64_t)v[i];
	}
	return any;
}

static char *put_word(char *at, uint64_t word)
{
	word = htole64(word);
	memcpy(at, &word, sizeof word);
	return at + sizeof word;
}

/* So many bits of each, from the lowest; writes up to 8 bytes more than it says. */
static char *put_bits(char *at, const uint64_t *v, size_t n, unsigned width)
{
	uint64_t word = 0;
	unsigned have = 0;

	for (size_t i = 0; i < n; i++) {
		word |= v[i] << have;
		have += width;
		if (have < 64)
			continue;
		at = put_word(at, word);
		have -= 64;
		word = have ? v[i] >> (width - have) : 0;
	}
	(void)put_word(at, word);
	return at + (have + 7) / 8;
}

static char *put_block(char *at, const int64_t *d, size_t n, unsigned zeros, uint64_t inverse)
{
	uint64_t z[AS_COLUMN_BLOCK], any = 0;

	for (size_t i = 0; i < n; i++) {
		z[i] = as_zigzag((int64_t)((uint64_t)(d[i] >> zeros) * inverse));
		any |= z[i];
	}
	unsigned width = any ? 64 - (unsigned)__builtin_clzll(any) : 0;
	*at++ = (char)width;
	return width ? put_bits(at, z, n, width) : at;
}

static void put_differences(struct as_buf *b, const int64_t *d, size_t n, uint64_t any)
{
	unsigned zeros = (unsigned)__builtin_ctzll(any);
	struct divisor g = odd_grain(d, n);

	as_enc_u64(b, g.by << zeros);
	char *at = as_buf_room(b, n * 8 + n / AS_COLUMN_BLOCK + 10);
	if (!at)
		return;
	for (size_t i = 0; i < n; i += AS_COLUMN_BLOCK)
		at = put_block(at, d + i, block_of(n - i), zeros, g.inverse);
	b->len = (size_t)(at - b->p);
}

static void put_bitmap(struct as_buf *b, const int64_t *v, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i += 8) {
		unsigned bits = 0;

		for (size_t k = 0; k < 8 && i + k < n; k++)
			bits |= (unsigned)(v[(i + k) * step] != AS_NA) << k;
		as_buf_byte(b, (char)bits);
	}
}

size_t as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	int64_t d[AS_COLUMN_MAX];

	if (n > AS_COLUMN_MAX) {
		b->bad = true;
		return 0;
	}
	size_t known = base ? gather_from(d, v, base, n, step) : gather(d, v, n, step);
	int64_t first = known ? d[0] : 0;
	uint64_t any = known ? differ(d, known - 1) : 0;
	bool holes = known && known < n;

	as_buf_byte(b, (char)((known ? KNOWN : 0) | (any ? VARYING | PACKED : 0) |
			      (holes ? HOLES : 0)));
	if (holes)
		put_bitmap(b, v, n, step);
	if (known)
		as_enc_i64(b, first);
	if (any)
		put_differences(b, d, known - 1, any);
	return known;
}

/* ── reading ──────────────────────────────────────────────────────────── */

/* The differences of a column, one after the other. */
struct differences {
	struct as_bytes *b;
	bool packed;
	size_t left;          /* packed: of all blocks that were not begun   */
	size_t in_block;      /* of the one that was                         */
	struct as_bytes bits; /* its bytes, from the one that comes next     */
	unsigned width, used; /* of each difference; bits used of that byte  */
};

static bool bit(const struct as_bytes *bitmap, size_t i)
{
	return !as_bytes_left(bitmap) || bitmap->p[i / 8] >> i % 8 & 1;
}

static size_t count_known(const struct as_bytes *bitmap, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n && as_bytes_left(bitmap); i++)
		known += bit(bitmap, i);
	return as_bytes_left(bitmap) ? known : n;
}

static void begin_block(struct differences *d)
{
	d->in_block = block_of(d->left);
	d->left -= d->in_block;
	d->width = (unsigned)as_dec_below(d->b, 65);
	d->bits = as_dec_piece(d->b, (d->in_block * d->width + 7) / 8);
	d->used = 0;
}

static uint64_t take_bits(struct differences *d)
{
	uint64_t v = 0;

	for (unsigned have = 0; have < d->width && as_bytes_left(&d->bits);) {
		unsigned n = 8 - d->used < d->width - have ? 8 - d->used : d->width - have;

		v |= (uint64_t)(*d->bits.p >> d->used & ((1u << n) - 1)) << have;
		have += n;
		d->used += n;
		d->bits.p += d->used / 8;
		d->used %= 8;
	}
	return v;
}

static int64_t next(struct differences *d)
{
	if (!d->packed)
		return as_dec_i64(d->b);
	if (!d->in_block)
		begin_block(d);
	d->in_block -= d->in_block > 0;
	return as_unzigzag(take_bits(d));
}

void as_dec_column(struct as_bytes *b, int64_t *v, const int64_t *base, size_t n, size_t step)
{
	uint8_t flags = as_dec_u8(b);
	struct as_bytes bitmap = as_dec_piece(b, flags & HOLES ? (n + 7) / 8 : 0);
	int64_t now = flags & KNOWN ? as_dec_i64(b) : AS_NA;
	uint64_t grain = flags & VARYING ? as_dec_u64(b) : 0;
	struct differences d = {.b = b, .packed = flags & PACKED};
	bool begun = false;

	b->bad |= flags > (KNOWN | VARYING | HOLES | PACKED) || (flags && !(flags & KNOWN));
	if (flags & PACKED && !b->bad)
		d.left = count_known(&bitmap, n) - 1;
	for (size_t i = 0; i < n && !b->bad; i++) {
		bool here = (flags & KNOWN) && bit(&bitmap, i);

		if (here && begun && (flags & VARYING))
			now = (int64_t)((uint64_t)now + (uint64_t)next(&d) * grain);
		begun |= here;
		if (v)
			v[i * step] = here ? plus(now, base_at(base, i * step)) : AS_NA;
	}
}
