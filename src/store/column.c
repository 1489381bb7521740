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

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* ── writing ──────────────────────────────────────────────────────────── */

struct column {
	const int64_t *v, *base;
	size_t n, step;
};

static bool known(const struct column *c, size_t i)
{
	return c->v[i * c->step] != AS_NA;
}

static int64_t base_at(const int64_t *base, size_t i)
{
	return !base || base[i] == AS_NA ? 0 : base[i];
}

static int64_t value(const struct column *c, size_t i)
{
	return minus(c->v[i * c->step], base_at(c->base, i * c->step));
}

/* What a look over the whole column tells. */
struct shape {
	int64_t first;
	uint64_t grain; /* 0: all known values are equal */
	size_t known;
};

static struct shape survey(const struct column *c)
{
	struct shape s = {0};
	int64_t prev = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (!known(c, i))
			continue;
		int64_t v = value(c, i);
		if (!s.known++)
			s.first = v;
		else if (v != prev && s.grain != 1)
			s.grain = gcd(size_of(minus(v, prev)), s.grain);
		prev = v;
	}
	return s;
}

static void put_bitmap(struct as_buf *b, const struct column *c)
{
	for (size_t i = 0; i < c->n; i += 8) {
		unsigned bits = 0;

		for (size_t k = 0; k < 8 && i + k < c->n; k++)
			bits |= (unsigned)known(c, i + k) << k;
		as_buf_byte(b, (char)bits);
	}
}

static void put_differences(struct as_buf *b, const struct column *c, const struct shape *s)
{
	int64_t prev = s->first;
	bool begun = false;

	as_enc_u64(b, s->grain);
	char *at = as_enc_start(b, s->known);
	for (size_t i = 0; i < c->n && at; i++) {
		if (!known(c, i))
			continue;
		int64_t v = value(c, i), d = minus(v, prev);
		uint64_t q = s->grain == 1 ? size_of(d) : size_of(d) / s->grain;

		if (begun)
			at = as_enc_next(at, (int64_t)(d < 0 ? -q : q));
		begun = true;
		prev = v;
	}
	as_enc_stop(b, at);
}

void as_enc_column(struct as_buf *b, const int64_t *v, const int64_t *base, size_t n, size_t step)
{
	struct column c = {v, base, n, step};
	struct shape s = survey(&c);
	bool holes = s.known && s.known < n;

	as_buf_byte(b, (char)((s.known ? KNOWN : 0) | (s.grain ? VARYING : 0) | (holes ? HOLES : 0)));
	if (holes)
		put_bitmap(b, &c);
	if (s.known)
		as_enc_i64(b, s.first);
	if (s.grain)
		put_differences(b, &c, &s);
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
