#pragma once
/*
 * random -- numbers that look random and are the same for the same seed
 * (xoshiro256**), and the distributions that arrivals and delays need.
 */
#include <stdint.h>

struct as_random {
	uint64_t s[4];
};

void as_random_seed(struct as_random *r, uint64_t seed);
uint64_t as_random_next(struct as_random *r);
double as_random_unit(struct as_random *r);        /* in (0, 1)                  */
double as_random_exponential(struct as_random *r); /* mean 1                     */
double as_random_normal(struct as_random *r);      /* mean 0, deviation 1        */
/* Of this shape, with mean 1: 1 is the exponential, more is steadier, less comes in bursts. */
double as_random_gamma(struct as_random *r, double shape);
