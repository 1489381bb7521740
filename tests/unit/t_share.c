/* share -- intervals that hold what they promise, also of events that resemble their neighbours. */
#include "utest.h"

#include <math.h>

#include "noise.h"
#include "stat/share.h"

static void t_nothing(void)
{
	struct as_share s = {0};

	EXPECT(isnan(as_share_of(&s, 2).mid));
	as_share_add(&s, 0, 0);
	EXPECT(isnan(as_share_of(&s, 2).low));
}

/* Against values that others tabulate: 9 of 10, and all of 100, at 95 %. */
static void t_wilson(void)
{
	struct as_share_interval i = as_share_wilson(9, 10, 1.959964);

	EXPECT(fabs(i.low - 0.5958) < 1e-3 && fabs(i.high - 0.9821) < 1e-3);
	i = as_share_wilson(100, 100, 1.959964);
	EXPECT(fabs(i.low - 0.9630) < 1e-3 && i.high >= 1);
}

static void t_joined_batches_lose_nothing(void)
{
	struct as_share s = {0};

	for (int i = 0; i < 1000; i++)
		as_share_add(&s, 9, 10);
	struct as_share_interval i = as_share_of(&s, 2);
	EXPECT(fabs(i.mid - 0.9) < 1e-12);
	EXPECT(s.batches <= AS_SHARE_BATCHES);
}

/* How often the truth is outside, of 2000 series whose good share wanders as slowly as `alike`. */
static double misses(double alike, double z)
{
	struct noise g = noise_new(7);
	int outside = 0;

	for (int k = 0; k < 2000; k++) {
		struct as_share s = {0};
		double wave = 0;

		for (int t = 0; t < 64; t++) {
			int good = 0;

			wave = alike * wave + sqrt(1 - alike * alike) * noise_normal(&g);
			for (int i = 0; i < 50; i++)
				good += noise_unit(&g) < 0.9 + 0.03 * wave;
			as_share_add(&s, good, 50);
		}
		struct as_share_interval i = as_share_of(&s, z);
		outside += i.low > 0.9 || i.high < 0.9;
	}
	return outside / 2000.;
}

static void t_coverage(void)
{
	double apart = misses(0, 1.96), alike = misses(0.7, 1.96);

	printf("# the truth is outside: %.3f, of neighbours that are alike %.3f\n", apart, alike);
	EXPECT(apart < 0.06);
	EXPECT(alike < 0.12);
	EXPECT(apart > 0.005 && alike > 0.005); /* that is no excuse for never being sure */
}

UTEST_MAIN(T(t_nothing), T(t_wilson), T(t_joined_batches_lose_nothing), T(t_coverage))
