#include "heap/parts.h"

static int64_t less(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* What so many of that size have; it may wrap, and wraps back when it is read. */
static int64_t all_of(int64_t count, uint64_t size)
{
	return (int64_t)((uint64_t)count * size);
}

static void put_amount(struct as_buf *b, const struct as_heap_amount *a, uint64_t size)
{
	as_enc_i64(b, a->count);
	as_enc_i64(b, less(a->bytes, all_of(a->count, size)));
}

static void get_amount(struct as_bytes *b, struct as_heap_amount *a, uint64_t size)
{
	a->count = as_dec_i64(b);
	a->bytes = plus(as_dec_i64(b), all_of(a->count, size));
}

void as_enc_totals(struct as_buf *b, const struct as_heap_totals *t)
{
	put_amount(b, &t->made, 0);
	put_amount(b, &t->freed, 0);
	put_amount(b, &t->left, 0);
	put_amount(b, &t->peak, 0);
	as_enc_i64(b, t->peak_ns);
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		as_enc_i64(b, t->sizes[i]);
}

void as_dec_totals(struct as_bytes *b, struct as_heap_totals *ret)
{
	get_amount(b, &ret->made, 0);
	get_amount(b, &ret->freed, 0);
	get_amount(b, &ret->left, 0);
	get_amount(b, &ret->peak, 0);
	ret->peak_ns = as_dec_i64(b);
	for (size_t i = 0; i < AS_HEAP_SIZES; i++)
		ret->sizes[i] = as_dec_i64(b);
}

void as_enc_rss(struct as_buf *b, const struct as_heap_rss *r)
{
	as_enc_i64(b, r->rss);
	as_enc_i64(b, r->anonymous);
	as_enc_i64(b, r->file);
	as_enc_i64(b, r->shared);
}

void as_dec_rss(struct as_bytes *b, struct as_heap_rss *ret)
{
	ret->rss = as_dec_i64(b);
	ret->anonymous = as_dec_i64(b);
	ret->file = as_dec_i64(b);
	ret->shared = as_dec_i64(b);
}

void as_enc_sums(struct as_buf *b, const struct as_heap_sums *s, uint64_t size, bool sampled)
{
	put_amount(b, &s->made, size);
	put_amount(b, &s->peak, size);
	put_amount(b, &s->left, size);
	put_amount(b, &s->temporary, size);
	if (!sampled)
		return;
	as_enc_f64(b, s->variance_made);
	as_enc_f64(b, s->variance_peak);
	as_enc_f64(b, s->variance_left);
	as_enc_f64(b, s->variance_temporary);
}

/* A variance is a number, and not below 0. */
static double get_variance(struct as_bytes *b)
{
	double v = as_dec_f64(b);

	b->bad |= !(v >= 0 && v <= 1e300);
	return b->bad ? 0 : v;
}

void as_dec_sums(struct as_bytes *b, struct as_heap_sums *ret, uint64_t size, bool sampled)
{
	*ret = (struct as_heap_sums){0};
	get_amount(b, &ret->made, size);
	get_amount(b, &ret->peak, size);
	get_amount(b, &ret->left, size);
	get_amount(b, &ret->temporary, size);
	if (!sampled)
		return;
	ret->variance_made = get_variance(b);
	ret->variance_peak = get_variance(b);
	ret->variance_left = get_variance(b);
	ret->variance_temporary = get_variance(b);
}
