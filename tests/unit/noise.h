#pragma once
/* noise -- random numbers for synthetic series, the same ones for the same seed. */
#include <math.h>
#include <stdint.h>

struct noise {
	uint64_t state;
	double last; /* of noise_alike() */
};

static inline struct noise noise_new(uint64_t seed)
{
	return (struct noise){.state = seed * 0x9e3779b97f4a7c15u + 1};
}

/* In 0..1 (splitmix64). */
static inline double noise_unit(struct noise *g)
{
	uint64_t z = g->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

/* Of the standard normal distribution (Box and Muller). */
static inline double noise_normal(struct noise *g)
{
	double u = 1 - noise_unit(g), v = noise_unit(g);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The same variance, but each number like the one before: correlation `alike`. */
static inline double noise_alike(struct noise *g, double alike)
{
	g->last = alike * g->last + sqrt(1 - alike * alike) * noise_normal(g);
	return g->last;
}
