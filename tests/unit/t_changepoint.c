#include "stat/changepoint.h"

#include "base/cleanup.h"
#include "noise.h"
#include "utest.h"

enum { N = 120, SERIES = 200 };

/* Noise of a standard deviation of 0.2 around 1: the least effect, 0.1, is half of it. */
enum kind { WHITE, OUTLIERS, ALIKE, NKINDS };

static const double least = 0.1, size = 0.2;

static double noisy(struct noise *g, enum kind kind)
{
	double x = kind == ALIKE ? noise_alike(g, 0.5) : noise_normal(g);

	if (kind == OUTLIERS && noise_unit(g) < 0.03)
		x += 10;
	return 1 + size * x;
}

static void fill(double *v, size_t n, enum kind kind, uint64_t seed)
{
	struct noise g = noise_new(seed);

	for (size_t i = 0; i < n; i++)
		v[i] = noisy(&g, kind);
}

static struct as_changes find(const double *a, const double *b, size_t n)
{
	const struct as_channel c[] = {{a, least, 0.1}, {b, least, 0.1}};
	struct as_changes r;
	struct as_err err;

	EXPECT_OK(as_changes_find(c, b ? 2 : 1, n, &r, &err), err);
	return r;
}

static bool has(const struct as_changes *c, size_t at)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at[i] + 1u >= at && c->at[i] <= at + 1)
			return true;
	return false;
}

static void t_flat_noise_is_not_cut(void)
{
	double a[N], b[N];

	for (int kind = 0; kind < NKINDS; kind++) {
		int cut = 0;

		for (uint64_t i = 0; i < SERIES; i++) {
			fill(a, N, (enum kind)kind, 2 * i + 1);
			fill(b, N, (enum kind)kind, 2 * i + 2);
			cut += find(a, b, N).n > 0;
		}
		printf("# kind %d: %d of %d flat series were cut\n", kind, cut, SERIES);
		EXPECT(cut * 100 <= 2 * SERIES);
	}
}

/* Three levels in one channel, the other one flat: both cuts, within one point. */
static void t_known_cuts_are_found(void)
{
	double a[N], b[N];

	for (int kind = 0; kind < NKINDS; kind++) {
		int found = 0, extra = 0;

		for (uint64_t s = 0; s < SERIES; s++) {
			fill(a, N, (enum kind)kind, 2 * s + 1);
			fill(b, N, (enum kind)kind, 2 * s + 2);
			for (size_t i = 30; i < 80; i++)
				a[i] += 1.4;
			struct as_changes c = find(a, b, N);
			found += has(&c, 30) + has(&c, 80);
			extra += (int)c.n > 2;
		}
		printf("# kind %d: %d of %d cuts found, %d series with more\n", kind, found,
		       2 * SERIES, extra);
		EXPECT(found * 100 >= 95 * 2 * SERIES);
		EXPECT(extra * 100 <= 10 * SERIES);
	}
}

/* What a plain bisection misses: something short in the middle that comes and goes. */
static void t_a_short_burst_is_found(void)
{
	double a[N];
	int found = 0;

	for (uint64_t s = 0; s < SERIES; s++) {
		fill(a, N, WHITE, s + 1);
		for (size_t i = 60; i < 68; i++)
			a[i] += 1.4;
		struct as_changes c = find(a, NULL, N);
		found += has(&c, 60) && has(&c, 68);
	}
	printf("# %d of %d bursts found\n", found, SERIES);
	EXPECT(found * 100 >= 95 * SERIES);
}

static void t_few_clean_points_are_enough(void)
{
	double v[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
	struct as_changes c = find(v, NULL, 12);

	EXPECT_U64(c.n, 1);
	EXPECT_U64(c.at[0], 6);
}

/*
 * A run of 8 s: it computes, writes 200 MiB, sleeps and computes with two processes, and its
 * memory wanders all the while. That memory remembers is no reason to believe that writing does.
 */
static void t_one_channel_that_wanders_hides_no_other(void)
{
	static const double cores[] = {0.91, 1.06, 1.02, 0.98, 1.02, 0.98, 1.03, 0.71,
				       1.08, 0.19, 0,    1.25, 2.03, 1.90, 2.08, 1.94,
				       2.05, 1.97, 2.05, 1.98, 2.00, 1.39};
	static const double memory[] = {3.6,  12.4, 27.1, 45.0, 53.8, 64.3, 8.6,  9.1,
					9.1,  9.1,  9.1,  47.5, 29.6, 31.6, 35.5, 41.5,
					49.5, 51.0, 53.6, 45.3, 49.0, NAN};
	static const double write[AS_LEN(cores)] = {[6] = 175, 251, 278, 4.2};
	const struct as_channel c[] = {{cores, 0.1, 0.15}, {memory, 4, 0.1}, {write, 1, 0.3}};
	struct as_changes r;
	struct as_err err;

	EXPECT_OK(as_changes_find(c, AS_LEN(c), AS_LEN(cores), &r, &err), err);
	EXPECT(r.n <= 3);
	EXPECT(has(&r, 6) && has(&r, 10));
}

/* The other way round: one that wanders is not cut because another one is quiet. */
static void t_one_quiet_channel_makes_no_other_sure(void)
{
	double a[N / 2], b[N / 2];
	int cut = 0;

	for (uint64_t s = 0; s < SERIES; s++) {
		struct noise g = noise_new(2 * s + 1);

		for (size_t i = 0; i < N / 2; i++)
			a[i] = 1 + size * noise_alike(&g, 0.9);
		fill(b, N / 2, WHITE, 2 * s + 2);
		cut += find(a, b, N / 2).n > 0;
	}
	printf("# %d of %d series that wander were cut\n", cut, SERIES);
	EXPECT(cut * 100 <= 50 * SERIES);
}

static void t_small_changes_are_none(void)
{
	double v[60];

	for (size_t i = 0; i < 60; i++)
		v[i] = i < 30 ? 1 : 1.09; /* without any noise, but below the least effect */
	EXPECT_U64(find(v, NULL, 60).n, 0);
	for (size_t i = 0; i < 60; i++)
		v[i] = i < 30 ? 100 : 109; /* enough, but not a tenth */
	EXPECT_U64(find(v, NULL, 60).n, 0);
}

static void t_many_cuts_come_in_order(void)
{
	double v[200];

	for (size_t i = 0; i < 200; i++)
		v[i] = (double)(i / 25 % 2) + (double)(i % 3) * 0.01;
	struct as_changes c = find(v, NULL, 200);
	EXPECT_U64(c.n, 7);
	for (size_t i = 0; i < c.n; i++)
		EXPECT_U64(c.at[i], 25 * (i + 1));
}

static void t_odd_input(void)
{
	double v[AS_CHANGE_POINTS + 50];

	for (size_t i = 0; i < AS_CHANGE_POINTS + 50; i++)
		v[i] = NAN;
	EXPECT_U64(find(v, NULL, 0).n, 0);
	EXPECT_U64(find(v, NULL, 5).n, 0);
	EXPECT_U64(find(v, v, AS_CHANGE_POINTS + 50).n, 0); /* the rest is not looked at */
	for (size_t i = 0; i < 60; i++)
		v[i] = i % 7 == 0 ? (double)NAN : i < 30 ? 0 : 1e300;
	EXPECT_U64(find(v, NULL, 60).at[0], 30);
	for (size_t i = 0; i < 60; i++)
		v[i] = i < 30 ? (double)-INFINITY : (double)INFINITY;
	(void)find(v, NULL, 60); /* any answer, but an answer */
}

static void t_the_same_answer_every_time(void)
{
	double v[N];
	struct as_changes c[2];

	fill(v, N, ALIKE, 5);
	for (size_t i = 40; i < N; i++)
		v[i] += 0.5;
	c[0] = find(v, NULL, N);
	c[1] = find(v, NULL, N);
	EXPECT(!memcmp(&c[0], &c[1], sizeof c[0]));
}

UTEST_MAIN(T(t_flat_noise_is_not_cut), T(t_known_cuts_are_found), T(t_a_short_burst_is_found),
	   T(t_few_clean_points_are_enough), T(t_one_channel_that_wanders_hides_no_other),
	   T(t_one_quiet_channel_makes_no_other_sure), T(t_small_changes_are_none),
	   T(t_many_cuts_come_in_order), T(t_odd_input), T(t_the_same_answer_every_time))
