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

	if (odd == 1) /* the most frequent one */
		return (struct divisor){.by = 1, .inverse = 1, .most = UINT64_MAX};
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

/* A column on its way: the differences of its known values. */
struct column {
	int64_t first, d[AS_COLUMN_MAX];
	size_t known;
	uint64_t any; /* all bits that are set in any difference */
};

/*
 * The differences of all values, as if all were known: so it mostly is, or none
 * is. False when some are and some are not.
 */
static bool differ_at_once(struct column *c, const int64_t *v, size_t n, size_t step)
{
	int64_t now = *v;
	bool holes = now == AS_NA;

	c->first = now;
	for (size_t i = 1; i < n; i++) {
		int64_t next = v[i * step];

		c->d[i - 1] = minus(next, now);
		c->any |= (uint64_t)c->d[i - 1];
		holes |= next == AS_NA;
		now = next;
	}
	c->known = holes ? 0 : n;
	return !holes || !c->any;
}

/* The known values side by side, or what they differ from their base; then their differences. */
static void differ_one_by_one(struct column *c, const int64_t *v, const int64_t *base, size_t n,
			      size_t step)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		c->d[known] = minus(v[i * step], base ? base_at(base, i * step) : 0);
		known += v[i * step] != AS_NA;
	}
	c->first = c->d[0];
	c->known = known;
	c->any = 0;
	for (size_t i = 1; i < known; i++) {
		c->d[i - 1] = minus(c->d[i], c->d[i - 1]);
		c->any |= (uint64_t)c->d[i - 1];
	}
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

static char *put_differences(char *at, const struct column *c)
{
	unsigned zeros = (unsigned)__builtin_ctzll(c->any);
	size_t n = c->known - 1;
	struct divisor g = odd_grain(c->d, n);

	at = as_enc_at(at, g.by << zeros);
	for (size_t i = 0; i < n; i += AS_COLUMN_BLOCK)
		at = put_block(at, c->d + i, block_of(n - i), zeros, g.inverse);
	return at;
}

static char *put_bitmap(char *at, const int64_t *v, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i += 8) {
		unsigned bits = 0;

		for (size_t k = 0; k < 8 && i + k < n; k++)
			bits |= (unsigned)(v[(i + k) * step] != AS_NA) << k;
		*at++ = (char)bits;
	}
	return at;
}

/* Of n values: flags, bitmap, two numbers, blocks, and what put_bits() writes too much. */
static size_t most_bytes(size_t n)
{
	return 1 + (n + 7) / 8 + 2 * 10 + n * 8 + n / AS_COLUMN_BLOCK + 1 + 8;
}

static char *put_column(char *at, const struct column *c, const int64_t *v, size_t n, size_t step)
{
	bool holes = c->known && c->known < n;

	*at++ = (char)((c->known ? KNOWN : 0) | (c->any ? VARYING | PACKED : 0) |
		       (holes ? HOLES : 0));
	if (holes)
		at = put_bitmap(at, v, n, step);
	if (c->known)
		at = as_enc_at(at, as_zigzag(c->first));
	return c->any ? put_differences(at, c) : at;
}

size_t as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	struct column c;
	char *at = n <= AS_COLUMN_MAX ? as_buf_room(b, most_bytes(n)) : NULL;

	if (!at) {
		b->bad = true;
		return 0;
	}
	c.known = c.any = 0;
	if (n && (base || !differ_at_once(&c, v, n, step)))
		differ_one_by_one(&c, v, base, n, step);
	b->len = (size_t)(put_column(at, &c, v, n, step) - b->p);
	return c.known;
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
