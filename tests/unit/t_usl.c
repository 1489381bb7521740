/* usl -- laws that are known, found again in points of them, exact and noisy. */
#include "utest.h"

#include <math.h>

#include "base/cleanup.h"
#include "noise.h"
#include "stat/usl.h"

static const double sizes[] = {1, 2, 4, 8, 16, 32, 48, 64};

static size_t points(double lambda, double sigma, double kappa, double noise, struct noise *g,
		     struct as_usl_point *to)
{
	struct as_usl u = {.lambda = {.mid = lambda},
			   .sigma = {.mid = sigma},
			   .kappa = {.mid = kappa}};

	for (size_t i = 0; i < AS_LEN(sizes); i++) {
		to[i].n = sizes[i];
		to[i].x = as_usl_at(&u, sizes[i]) * (1 + noise * noise_normal(g));
	}
	return AS_LEN(sizes);
}

static bool near(double a, double b, double off)
{
	return fabs(a - b) <= off * fabs(b) + 1e-9;
}

static void t_exact(void)
{
	struct as_usl_point p[AS_USL_MOST];
	struct noise g = noise_new(1);
	struct as_usl u;

	EXPECT(as_usl_fit(p, points(100, 0.05, 0.001, 0, &g, p), &u));
	EXPECT(near(u.lambda.mid, 100, 1e-6) && near(u.sigma.mid, 0.05, 1e-6) &&
	       near(u.kappa.mid, 0.001, 1e-6));
	EXPECT(near(u.peak_n.mid, sqrt(0.95 / 0.001), 1e-6));
	EXPECT(u.error < 1e-9 && !u.far);
}

static void t_no_peak(void)
{
	struct as_usl_point p[AS_USL_MOST];
	struct noise g = noise_new(1);
	struct as_usl u;

	EXPECT(as_usl_fit(p, points(100, 0, 0, 0, &g, p), &u));
	EXPECT(isinf(u.peak_n.mid) && isinf(u.peak_x.mid) && u.sigma.mid < 1e-9);
	EXPECT(as_usl_fit(p, points(100, 0.1, 0, 0, &g, p), &u));
	EXPECT(u.far && u.peak_x.mid <= 1001);
}

/* A server that does one at a time, and noise: no more than all of it is done in turn. */
static void t_in_turn_is_a_share(void)
{
	struct as_usl_point p[AS_USL_MOST];
	struct noise g = noise_new(5);
	struct as_usl u;

	for (int i = 0; i < 20; i++) {
		EXPECT(as_usl_fit(p, points(100, 1, 0, 0.05, &g, p), &u));
		EXPECT(u.sigma.mid <= 1 && u.sigma.high <= 1 && u.sigma.low <= u.sigma.mid);
	}
}

/* With noise of 3 % the peak is within 15 %, and in its interval mostly. */
static void t_noisy(void)
{
	struct as_usl_point p[AS_USL_MOST];
	double truth = sqrt(0.98 / 0.001);
	int inside = 0, off = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct noise g = noise_new(seed);
		struct as_usl u;

		EXPECT(as_usl_fit(p, points(50, 0.02, 0.001, 0.03, &g, p), &u));
		off += !near(u.peak_n.mid, truth, 0.15);
		inside += u.peak_n.low <= truth && truth <= u.peak_n.high;
		EXPECT(u.peak_n.low <= u.peak_n.mid && u.peak_n.mid <= u.peak_n.high);
	}
	EXPECT(off <= 2);
	EXPECT(inside >= 75);
}

static void t_too_little(void)
{
	struct as_usl_point p[] = {{1, 10}, {1, 11}, {2, 20}, {2, 19}, {4, 30}};
	struct as_usl_point bad[] = {{1, 10}, {2, 0}, {4, 30}, {8, 40}};
	struct as_usl u;

	EXPECT(!as_usl_fit(p, AS_LEN(p), &u));
	EXPECT(!as_usl_fit(bad, AS_LEN(bad), &u));
	EXPECT(!as_usl_fit(p, 0, &u));
}

UTEST_MAIN(T(t_exact), T(t_no_peak), T(t_in_turn_is_a_share), T(t_noisy), T(t_too_little))
