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

static void survey(struct shape *s, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	int64_t prev = 0;

	for (size_t i = 0; i < n * step; i += step) {
		if (v[i] == AS_NA)
			continue;
		int64_t now = minus(v[i], base_at(base, i)), d = minus(now, prev);

		if (s->known++) {
			s->d[s->n++] = d;
			s->any |= size_of(d);
		} else {
			s->first = now;
		}
		prev = now;
	}
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

static void put_differences(struct as_buf *b, const struct shape *s, uint64_t grain)
{
	as_enc_u64(b, grain);
	char *at = as_enc_start(b, s->n);
	for (size_t i = 0; i < s->n && at; i++)
		at = as_enc_next(at, grain == 1 ? s->d[i] : divided(s->d[i], grain));
	as_enc_stop(b, at);
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

void as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	int64_t differences[AS_COLUMN_MAX];
	struct shape s = {.d = differences};

	if (n > AS_COLUMN_MAX) {
		b->bad = true;
		return;
	}
	survey(&s, v, base, n, step);
	bool holes = s.known && s.known < n;
	as_buf_byte(b, (char)((s.known ? KNOWN : 0) | (s.any ? VARYING : 0) | (holes ? HOLES : 0)));
	if (holes)
		put_bitmap(b, v, n, step);
	if (s.known)
		as_enc_i64(b, s.first);
	if (s.any)
		put_differences(b, &s, grain_of(&s));
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
