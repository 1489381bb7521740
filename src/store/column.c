#include "store/column.h"

#include "run/field.h"

enum { KNOWN = 1, VARYING = 2, HOLES = 4 };

/* Differences are taken modulo 2^64: every int64_t comes back as it was. */
static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static uint64_t size_of(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* Division is most of the work here, and half as long when the numbers are small. */
static uint64_t rest(uint64_t a, uint64_t b)
{
	return (a | b) >> 32 ? a % b : (uint32_t)a % (uint32_t)b;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = rest(a, b);

		a = b;
		b = r;
	}
	return a;
}

/* ── writing ──────────────────────────────────────────────────────────── */

static int64_t base_at(const int64_t *base, size_t i)
{
	return !base || base[i] == AS_NA ? 0 : base[i];
}

/* The differences of the known values of a column, side by side. */
struct shape {
	int64_t *d;
	size_t n; /* of them: known values less one        */
	size_t known;
	int64_t first; /* known value                           */
	uint64_t any;  /* all bits of all sizes of differences  */
};

/* `far`, when given, holds the distances that are meant instead of the values. */
static void survey(struct shape *s, const int64_t *v, const int64_t *far, size_t n, size_t step)
{
	int64_t prev = 0;

	for (size_t i = 0; i < n; i++, v += step) {
		if (*v == AS_NA)
			continue;
		int64_t now = far ? far[i] : *v, d = minus(now, prev);

		prev = now;
		if (s->known++) {
			s->d[s->n++] = d;
			s->any |= size_of(d);
		} else {
			s->first = d;
		}
	}
}

static void survey_from(struct shape *s, const int64_t *v, const int64_t *base, size_t n,
			size_t step)
{
	int64_t far[AS_COLUMN_MAX];

	for (size_t i = 0; i < n; i++)
		far[i] = minus(v[i * step], base_at(base, i * step));
	survey(s, v, far, n, step);
}

/* What divides all differences; 0 when all are 0. Powers of two can be seen at once. */
static uint64_t grain_of(const struct shape *s)
{
	unsigned zeros = s->any ? (unsigned)__builtin_ctzll(s->any) : 0;
	uint64_t g = 0;

	for (size_t i = 0; i < s->n && g != 1; i++)
		if (s->d[i])
			g = gcd(size_of(s->d[i]) >> zeros, g);
	return g << zeros;
}

static int64_t divided(int64_t d, uint64_t grain)
{
	uint64_t size = size_of(d);
	uint64_t q = (size | grain) >> 32 ? size / grain : (uint32_t)size / (uint32_t)grain;

	return (int64_t)(d < 0 ? -q : q);
}

/* One loop for each width of the largest: see as_enc_at(). */
static void put_differences(struct as_buf *b, const struct shape *s, uint64_t grain)
{
	as_enc_u64(b, grain);
	char *at = s->n > SIZE_MAX / 10 ? NULL : as_buf_room(b, 10 * s->n);
	const int64_t *d = s->d, *end = s->d + s->n;
	uint64_t largest = s->any / grain;

	if (!at)
		return;
	if (largest < 1u << 13)
		for (; d < end; d++)
			at = as_enc_at14(at, (uint32_t)as_zigzag(*d));
	else if (largest < 1u << 27)
		for (; d < end; d++)
			at = as_enc_at28(at, (uint32_t)as_zigzag(*d));
	else
		for (; d < end; d++)
			at = as_enc_at(at, as_zigzag(*d));
	b->len = (size_t)(at - b->p);
}

static void divide(struct shape *s, uint64_t grain)
{
	for (size_t i = 0; i < s->n && grain != 1; i++)
		s->d[i] = divided(s->d[i], grain);
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
	int64_t differences[AS_COLUMN_MAX];
	struct shape s = {.d = differences};

	if (n > AS_COLUMN_MAX) {
		b->bad = true;
		return 0;
	}
	if (base)
		survey_from(&s, v, base, n, step);
	else
		survey(&s, v, NULL, n, step);
	bool holes = s.known && s.known < n;
	as_buf_byte(b, (char)((s.known ? KNOWN : 0) | (s.any ? VARYING : 0) | (holes ? HOLES : 0)));
	if (holes)
		put_bitmap(b, v, n, step);
	if (s.known)
		as_enc_i64(b, s.first);
	if (s.any) {
		uint64_t grain = grain_of(&s);

		divide(&s, grain);
		put_differences(b, &s, grain);
	}
	return s.known;
}

/* ── reading ──────────────────────────────────────────────────────────── */

static bool bit(const struct as_bytes *bitmap, size_t i)
{
	return !as_bytes_left(bitmap) || bitmap->p[i / 8] >> i % 8 & 1;
}

void as_dec_column(struct as_bytes *b, int64_t *v, const int64_t *base, size_t n, size_t step)
{
	uint8_t flags = as_dec_u8(b);
	struct as_bytes bitmap = as_dec_piece(b, flags & HOLES ? (n + 7) / 8 : 0);
	int64_t now = flags & KNOWN ? as_dec_i64(b) : AS_NA;
	uint64_t grain = flags & VARYING ? as_dec_u64(b) : 0;
	bool begun = false;

	b->bad |= flags > (KNOWN | VARYING | HOLES) || (flags && !(flags & KNOWN));
	for (size_t i = 0; i < n && !b->bad; i++) {
		bool here = (flags & KNOWN) && bit(&bitmap, i);

		if (here && begun && (flags & VARYING))
			now = (int64_t)((uint64_t)now + (uint64_t)as_dec_i64(b) * grain);
		begun |= here;
		if (v)
			v[i * step] = here ? plus(now, base_at(base, i * step)) : AS_NA;
	}
}
