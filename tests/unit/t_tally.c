/* tally -- means weighted by time, rates over honest windows, gaps without weight. */
#include "utest.h"

#include "stat/tally.h"

#define MS INT64_C(1000000)

static void t_gauge(void)
{
	struct as_tally s = as_tally_new();

	EXPECT(isnan(s.mean) && isnan(s.last));
	as_tally_gauge(&s, 0, 10);
	EXPECT_NEAR(s.mean, 10, 0);
	/* dense samples at first must not weigh more than their time */
	for (int i = 1; i <= 10; i++)
		as_tally_gauge(&s, i * 10 * MS, 10);
	as_tally_gauge(&s, 1100 * MS, 30);
	EXPECT_NEAR(s.mean, (10 * 100 + 20 * 1000) / 1100.0, 1e-9);
	EXPECT_NEAR(s.min, 10, 0);
	EXPECT_NEAR(s.max, 30, 0);
	EXPECT_NEAR(s.last, 30, 0);
	EXPECT_U64(s.n, 12);
}

static void t_gap(void)
{
	struct as_tally s = as_tally_new();

	as_tally_gauge(&s, 0, 10);
	as_tally_gauge(&s, 100 * MS, 10);
	as_tally_gap(&s);
	as_tally_gauge(&s, 900 * MS, 50); /* what lay between is unknown */
	as_tally_gauge(&s, 1000 * MS, 50);
	EXPECT_NEAR(s.mean, 30, 1e-9);
}

static void t_counter(void)
{
	struct as_tally s = as_tally_new();

	as_tally_counter(&s, 0, 0);
	EXPECT(isnan(s.mean));
	as_tally_counter(&s, 500 * MS, 500 * MS);              /* one core   */
	as_tally_counter(&s, 1000 * MS, 500 * MS);             /* idle       */
	as_tally_counter(&s, 2000 * MS, 500 * MS + 2000 * MS); /* two cores */
	EXPECT_NEAR(s.mean, 2500.0 / 2000, 1e-9);
	EXPECT_NEAR(s.min, 0, 1e-9);
	EXPECT_NEAR(s.max, 2, 1e-9);
	EXPECT_NEAR(s.last, 2, 1e-9);
}

/* A counter in steps of 10 ms, read every 10 ms: no interval shows 0 % or 200 %. */
static void t_window(void)
{
	struct as_tally s = as_tally_new();

	for (int i = 0; i <= 100; i++)
		as_tally_counter(&s, i * 10 * MS, i / 2 * 20 * MS);
	EXPECT_NEAR(s.min, 1, 0.21);
	EXPECT_NEAR(s.max, 1, 0.21);
	EXPECT_NEAR(s.mean, 1, 1e-9);
}

/* A run shorter than the window still has a rate: the only one there is. */
static void t_short(void)
{
	struct as_tally s = as_tally_new();

	as_tally_counter(&s, 0, 0);
	as_tally_counter(&s, 8 * MS, 4 * MS);
	EXPECT_NEAR(s.mean, 0.5, 1e-9);
	EXPECT_NEAR(s.min, 0.5, 1e-9);
	EXPECT_NEAR(s.max, 0.5, 1e-9);
	EXPECT_NEAR(s.last, 0.5, 1e-9);
}

/* A last piece of 10 ms joins the window before it: the mean stays between min and max. */
static void t_short_end(void)
{
	struct as_tally s = as_tally_new();

	as_tally_counter(&s, 0, 0);
	as_tally_counter(&s, 100 * MS, 10 * MS);
	as_tally_counter(&s, 110 * MS, 20 * MS);
	EXPECT_NEAR(s.mean, 20.0 / 110, 1e-9);
	EXPECT_NEAR(s.min, 20.0 / 110, 1e-9);
	EXPECT_NEAR(s.max, 20.0 / 110, 1e-9);
	as_tally_gap(&s);
	as_tally_counter(&s, 500 * MS, 0);
	as_tally_counter(&s, 700 * MS, 200 * MS);
	EXPECT_NEAR(s.min, 20.0 / 110, 1e-9);
	EXPECT_NEAR(s.max, 1, 1e-9);
}

/* Whatever the samples, mean, min and max are in order. */
static void t_order(void)
{
	unsigned seed = 7;

	for (int round = 0; round < 500; round++) {
		struct as_tally s = as_tally_new();
		int64_t t = 0, v = 0;

		for (int i = 0; i < 40; i++) {
			seed = seed * 1103515245 + 12345;
			t += (1 + (seed >> 16) % 150) * MS;
			v += (seed >> 8) % 1000;
			as_tally_counter(&s, t, v);
		}
		EXPECT(s.min <= s.mean + 1e-12 && s.mean <= s.max + 1e-12);
	}
}

/* Standing still, told at once or moment by moment, is the same. */
static void t_stays(void)
{
	struct as_tally one = as_tally_new(), all = as_tally_new();

	as_tally_gauge(&one, 0, 10);
	as_tally_gauge(&one, 500 * MS, 30);
	all = one;
	for (int i = 2; i <= 10; i++)
		as_tally_gauge(&all, i * 500 * MS, 30);
	as_tally_gauge_stays(&one, 5000 * MS, 9);
	as_tally_gauge(&one, 6000 * MS, 50);
	as_tally_gauge(&all, 6000 * MS, 50);
	EXPECT_NEAR(one.mean, (20 * 500 + 30 * 4500 + 40 * 1000) / 6000.0, 1e-9);
	EXPECT_NEAR(one.mean, all.mean, 1e-9);
	EXPECT_U64(one.n, all.n);
	EXPECT_NEAR(one.min, 10, 0);
	EXPECT_NEAR(one.max, 50, 0);
}

static void t_counter_stays(void)
{
	struct as_tally one = as_tally_new(), all = as_tally_new();

	as_tally_counter(&one, 0, 0);
	as_tally_counter(&one, 500 * MS, 500 * MS);
	all = one;
	for (int i = 2; i <= 10; i++)
		as_tally_counter(&all, i * 500 * MS, 500 * MS);
	as_tally_counter_stays(&one, 5000 * MS, 9);
	EXPECT_NEAR(one.last, 0, 0);
	EXPECT_NEAR(one.min, 0, 0);
	as_tally_counter(&one, 5500 * MS, 1500 * MS);
	as_tally_counter(&all, 5500 * MS, 1500 * MS);
	EXPECT_NEAR(one.mean, 1500.0 / 5500, 1e-9);
	EXPECT_NEAR(one.mean, all.mean, 1e-12);
	EXPECT_NEAR(one.max, 2, 1e-9);
	EXPECT_NEAR(one.max, all.max, 1e-12);
	EXPECT_U64(one.n, all.n);
}

/* The burst before a long rest is not thinned by it, and an unknown one stays so. */
static void t_counter_stays_in_a_window(void)
{
	struct as_tally s = as_tally_new();

	as_tally_counter(&s, 0, 0);
	as_tally_counter(&s, 50 * MS, 50 * MS);
	as_tally_counter_stays(&s, 10000 * MS, 20);
	EXPECT_NEAR(s.max, 0.5, 1e-9); /* over its window of 0.1 s */
	EXPECT_NEAR(s.mean, 50.0 / 10000, 1e-9);
	EXPECT_U64(s.n, 22);
	as_tally_gap(&s);
	as_tally_counter_stays(&s, 11000 * MS, 2);
	EXPECT_U64(s.n, 22);
	EXPECT_NEAR(s.mean, 50.0 / 10000, 1e-9);
}

UTEST_MAIN(T(t_stays), T(t_counter_stays), T(t_counter_stays_in_a_window), T(t_gauge), T(t_gap),
	   T(t_counter), T(t_window), T(t_short), T(t_short_end), T(t_order))
