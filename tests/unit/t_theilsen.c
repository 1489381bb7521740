/* theilsen -- the slope against its definition, and its interval against the truth. */
#include "utest.h"

#include "noise.h"
#include "stat/theilsen.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The definition itself: the median of the slopes of all pairs. */
static double by_hand(const double *t, const double *y, size_t n)
{
	static double m[100 * 99 / 2];
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			m[pairs++] = (y[k] - y[i]) / (t[k] - t[i]);
	qsort(m, pairs, sizeof *m, by_value);
	return m[pairs / 2];
}

static void t_definition(void)
{
	struct noise g = noise_new(7);
	double t[100], y[100];

	for (int round = 0; round < 50; round++) {
		size_t n = 8 + (size_t)(noise_unit(&g) * 92);

		for (size_t i = 0; i < n; i++) {
			t[i] = (i ? t[i - 1] : 0) + 0.1 + noise_unit(&g);
			y[i] = 5 * t[i] + 20 * noise_normal(&g);
		}
		struct as_slope s = as_theilsen(t, y, n);
		EXPECT_NEAR(s.mid, by_hand(t, y, n), 1e-9 * fabs(s.mid));
		EXPECT(s.low <= s.mid && s.mid <= s.high);
	}
}

static void t_exact_line(void)
{
	double t[40], y[40];

	for (size_t i = 0; i < 40; i++) {
		t[i] = (double)i;
		y[i] = 3 - 2.5 * t[i];
	}
	y[11] = 1e12; /* outliers do not bend it */
	y[30] = -1e12;
	struct as_slope s = as_theilsen(t, y, 40);
	EXPECT_NEAR(s.mid, -2.5, 1e-6);
	for (size_t i = 0; i < 40; i++)
		y[i] = 77;
	s = as_theilsen(t, y, 40);
	EXPECT_NEAR(s.mid, 0, 0);
	EXPECT_NEAR(s.low, 0, 0);
	EXPECT_NEAR(s.high, 0, 0);
}

static void t_refuses(void)
{
	static double t[AS_THEILSEN_MAX + 1], y[AS_THEILSEN_MAX + 1];

	for (size_t i = 0; i <= AS_THEILSEN_MAX; i++)
		t[i] = (double)i;
	EXPECT(isnan(as_theilsen(t, y, 0).mid));
	EXPECT(isnan(as_theilsen(t, y, AS_THEILSEN_MIN - 1).mid));
	EXPECT(isnan(as_theilsen(t, y, AS_THEILSEN_MAX + 1).mid));
	EXPECT_NEAR(as_theilsen(t, y, AS_THEILSEN_MAX).mid, 0, 0);
	y[5] = NAN;
	EXPECT(isnan(as_theilsen(t, y, 20).low));
	y[5] = 0;
	t[5] = t[4];
	EXPECT(isnan(as_theilsen(t, y, 20).high));
}

/* How often of 200 the interval holds the slope that the series was made with. */
static int covered(uint64_t seed, size_t n, double alike)
{
	struct noise g = noise_new(seed);
	double t[512], y[512];
	int held = 0;

	for (int round = 0; round < 200; round++) {
		double slope = 4 * noise_unit(&g) - 2;

		g.last = 0;
		for (size_t i = 0; i < n; i++) {
			t[i] = (double)i * 0.5;
			y[i] = 1000 + slope * t[i] + 30 * noise_alike(&g, alike);
		}
		struct as_slope s = as_theilsen(t, y, n);
		held += s.low <= slope && slope <= s.high;
	}
	return held;
}

static void t_interval(void)
{
	static const struct {
		size_t n;
		double alike;
	} cases[] = {{60, 0}, {60, 0.5}, {200, 0}, {200, 0.5}, {200, 0.8}, {400, 0}, {400, 0.9}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int held = covered(40 + i, cases[i].n, cases[i].alike);

		printf("# %zu points, correlation %.1f: %d of 200\n", cases[i].n, cases[i].alike,
		       held);
		if (held < 180)
			UTEST_FAIL("%zu points, correlation %.1f: the interval held in %d of 200",
				   cases[i].n, cases[i].alike, held);
	}
}

UTEST_MAIN(T(t_definition), T(t_exact_line), T(t_refuses), T(t_interval))
