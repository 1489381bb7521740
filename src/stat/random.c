#include "stat/random.h"

#include <math.h>

static uint64_t rotated(uint64_t v, int by)
{
	return v << by | v >> (64 - by);
}

/* Four words out of one, none of them all zeros: splitmix64. */
void as_random_seed(struct as_random *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ z >> 31;
	}
}

uint64_t as_random_next(struct as_random *r)
{
	uint64_t *s = r->s, next = rotated(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotated(s[3], 45);
	return next;
}

double as_random_unit(struct as_random *r)
{
	return ((double)(as_random_next(r) >> 12) + 0.5) * 0x1p-52;
}

double as_random_exponential(struct as_random *r)
{
	return -log(as_random_unit(r));
}

double as_random_normal(struct as_random *r)
{
	double u = as_random_unit(r), v = as_random_unit(r);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Marsaglia and Tsang: a cube of a normal, taken or refused, about one in twenty the latter. */
static double gamma_above_one(struct as_random *r, double shape)
{
	double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = as_random_normal(r), v = 1 + c * x;

		v = v * v * v;
		if (v > 0 && log(as_random_unit(r)) < 0.5 * x * x + d - d * v + d * log(v))
			return d * v;
	}
}

double as_random_gamma(struct as_random *r, double shape)
{
	if (shape >= 1)
		return gamma_above_one(r, shape) / shape;
	return gamma_above_one(r, shape + 1) * pow(as_random_unit(r), 1 / shape) / shape;
}
