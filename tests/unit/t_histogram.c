/* histogram -- quantiles of known values, to within half a bucket, and merging loses nothing. */
#include <sys/mman.h>

#include "utest.h"

#include "stat/histogram.h"

static struct as_histogram h, g; /* too large for a stack */

static void t_empty(void)
{
	EXPECT_I64(as_histogram_at(&h, 0.5), -1);
	as_histogram_add(&h, 7, 0);
	EXPECT_U64(h.n, 0);
	EXPECT_I64(as_histogram_at(&h, 1), -1);
}

/* Every value is in the bucket whose middle is near it, and buckets are in order. */
static void t_buckets(void)
{
	for (unsigned bits = 3; bits <= 10; bits++) {
		size_t last = 0;

		for (uint64_t v = 0; v < UINT64_C(1) << 62; v += 1 + v / 97) {
			size_t i = as_bucket_of(v, bits);
			double off = fabs((double)as_bucket_middle(i, bits) - (double)v);

			EXPECT(i >= last);
			EXPECT(off <= (double)v / (double)(UINT64_C(2) << bits));
			last = i;
		}
	}
	EXPECT(as_bucket_of(INT64_MAX, AS_HISTOGRAM_BITS) < AS_HISTOGRAM_BUCKETS);
}

static void t_small_values_are_exact(void)
{
	for (int64_t v = 1; v <= 200; v++)
		as_histogram_add(&h, v, 1);
	EXPECT_I64(as_histogram_at(&h, 0.5), 100);
	EXPECT_I64(as_histogram_at(&h, 0.95), 190);
	EXPECT_I64(as_histogram_at(&h, 0), 1);
	EXPECT_I64(as_histogram_at(&h, 1), 200);
	EXPECT_U64(as_histogram_within(&h, 50, 60), 10);
	EXPECT_NEAR(h.sum, 20100, 0);
}

static void t_large_values(void)
{
	for (int64_t v = 1; v <= 100000; v++)
		as_histogram_add(&h, v * 1000, 1);
	EXPECT_NEAR((double)as_histogram_at(&h, 0.5), 50e6, 50e6 * 0.0005);
	EXPECT_NEAR((double)as_histogram_at(&h, 0.99), 99e6, 99e6 * 0.0005);
	EXPECT_I64(as_histogram_at(&h, 1), 100000000);
}

/* What is told of a value, alone among its like, is within 0.1 % of it: everywhere. */
static void t_error_is_small(void)
{
	for (int64_t v = 1; v < INT64_C(1) << 50; v += 1 + v / 61) {
		as_histogram_clear(&h);
		as_histogram_add(&h, v - v / 4, 1);
		as_histogram_add(&h, v, 1);
		as_histogram_add(&h, v + v / 4, 1);
		EXPECT_NEAR((double)as_histogram_at(&h, 0.5), (double)v, (double)v * 0.001);
	}
}

static void t_mean(void)
{
	EXPECT(isnan(as_histogram_mean(&h)));
	as_histogram_add(&h, 10, 3);
	as_histogram_add(&h, 50, 1);
	EXPECT_NEAR(as_histogram_mean(&h), 20, 0);
}

static void t_ends(void)
{
	as_histogram_add(&h, -5, 2);
	as_histogram_add(&h, INT64_MAX, 1);
	EXPECT_I64(h.min, 0);
	EXPECT_I64(as_histogram_at(&h, 0.5), 0);
	EXPECT_I64(as_histogram_at(&h, 1), INT64_MAX);
}

static void t_merge(void)
{
	as_histogram_add(&h, 10, 3);
	as_histogram_add(&g, 1000000, 1);
	as_histogram_merge(&h, &g);
	EXPECT_U64(h.n, 4);
	EXPECT_I64(h.min, 10);
	EXPECT_I64(h.max, 1000000);
	EXPECT_I64(as_histogram_at(&h, 0.75), 10);
	as_histogram_clear(&h);
	as_histogram_merge(&g, &h);
	EXPECT_I64(g.min, 1000000);
	EXPECT_U64(g.n, 1);
	EXPECT_I64(as_histogram_at(&h, 1), -1);
}

/* Pages of it that are in memory; of those at its ends others may have a part. */
static int64_t pages_of(const struct as_histogram *of)
{
	enum { PAGE = 4096, MOST = sizeof *of / PAGE + 2 };
	uintptr_t first = (uintptr_t)of & ~(uintptr_t)(PAGE - 1);
	unsigned char there[MOST];
	size_t bytes = (uintptr_t)(of + 1) - first;
	int64_t n = 0;

	EXPECT(mincore((void *)first, bytes, there) == 0);
	for (size_t i = 0; i < (bytes + PAGE - 1) / PAGE; i++)
		n += there[i] & 1;
	return n;
}

/* What all values up to a minute cost in pages that were not there. */
static int64_t pages_of_all(struct as_histogram *to)
{
	as_histogram_add(to, 1, 1);
	int64_t before = pages_of(to);

	for (int64_t v = 1; v < INT64_C(1) << 36; v += 1 + v / 2048)
		as_histogram_add(to, v, 1);
	return pages_of(to) - before;
}

/* Once it has a value it is settled: rare ones need no memory any more. */
static void t_settled(void)
{
	as_histogram_settle(&g, &g); /* has none: takes nothing */
	as_histogram_add(&h, 1000, 1);
	as_histogram_settle(&h, &h);
	EXPECT_I64(pages_of_all(&h), 0);
	EXPECT(pages_of_all(&g) > 20);
	as_histogram_clear(&h);
	as_histogram_settle(&h, &h);
	EXPECT_U64(h.n, 0);
	EXPECT_I64(as_histogram_at(&h, 0.5), -1);
}

UTEST_MAIN(T(t_empty), T(t_buckets), T(t_small_values_are_exact), T(t_large_values),
	   T(t_error_is_small), T(t_mean), T(t_ends), T(t_merge), T(t_settled))
