#include "stat/histogram.h"

#include <math.h>

uint64_t as_bucket_middle(size_t bucket, unsigned bits)
{
	if (bucket < (size_t)2 << bits)
		return bucket;
	unsigned shift = (unsigned)(bucket >> bits) - 1;
	uint64_t low = (uint64_t)(bucket - ((size_t)shift << bits)) << shift;
	return low + (UINT64_C(1) << shift >> 1);
}

void as_histogram_add(struct as_histogram *h, int64_t v, uint64_t times)
{
	if (!times)
		return;
	v = v > 0 ? v : 0;
	h->min = !h->n || v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
	h->n += times;
	h->sum += (double)v * (double)times;
	h->count[as_bucket_of((uint64_t)v, AS_HISTOGRAM_BITS)] += times;
}

/* All that it has is in buckets from the first to before the end. */
static size_t first_of(const struct as_histogram *h)
{
	return as_bucket_of((uint64_t)h->min, AS_HISTOGRAM_BITS);
}

static size_t end_of(const struct as_histogram *h)
{
	return h->n ? as_bucket_of((uint64_t)h->max, AS_HISTOGRAM_BITS) + 1 : 0;
}

void as_histogram_merge(struct as_histogram *to, const struct as_histogram *from)
{
	if (!from->n)
		return;
	to->min = !to->n || from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->n += from->n;
	to->sum += from->sum;
	for (size_t i = first_of(from), end = end_of(from); i < end; i++)
		if (from->count[i]) /* a page that has none is not touched */
			to->count[i] += from->count[i];
}

void as_histogram_clear(struct as_histogram *h)
{
	for (size_t i = first_of(h), end = end_of(h); i < end; i++)
		if (h->count[i])
			h->count[i] = 0;
	h->n = 0;
	h->min = h->max = 0;
	h->sum = 0;
}

/* Written to, as what is only read takes no page. */
static void touch(volatile uint64_t *at)
{
	*at = *at;
}

void as_histogram_settle(struct as_histogram *h, const struct as_histogram *like)
{
	enum { PAGE = 4096 / sizeof *h->count }; /* the smallest that there are */
	size_t last = as_bucket_of(UINT64_C(1) << 36, AS_HISTOGRAM_BITS);

	if (!like->n || h->settled)
		return;
	for (size_t i = 0; i < last; i += PAGE)
		touch(&h->count[i]);
	touch(&h->count[last]);
	h->settled = 1;
}

double as_histogram_mean(const struct as_histogram *h)
{
	return h->n ? h->sum / (double)h->n : (double)NAN;
}

int64_t as_histogram_at(const struct as_histogram *h, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)h->n), below = 0;
	size_t i = first_of(h), end = end_of(h);

	if (!h->n)
		return -1;
	if (rank <= 1 || rank >= h->n) /* these two are known as they were */
		return rank <= 1 ? h->min : h->max;
	for (; i < end && below + h->count[i] < rank; i++)
		below += h->count[i];
	int64_t v = (int64_t)as_bucket_middle(i, AS_HISTOGRAM_BITS);
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

uint64_t as_histogram_within(const struct as_histogram *h, int64_t from, int64_t below)
{
	uint64_t n = 0;

	for (size_t i = 0; i < AS_HISTOGRAM_BUCKETS; i++) {
		int64_t v = (int64_t)as_bucket_middle(i, AS_HISTOGRAM_BITS);

		n += v >= from && v < below ? h->count[i] : 0;
	}
	return n;
}
