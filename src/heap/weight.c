#include <math.h>

#include "heap/event.h"

/*
 * An allocation of `size` bytes is sampled with the chance that at least one of
 * its bytes is, p = 1 - e^(-size/rate); so each that was stands for 1/p of its
 * kind. Those of `rate` bytes or more are always recorded.
 */
struct as_heap_weight as_heap_weight(uint64_t size, uint64_t rate)
{
	double bytes = (double)size;

	if (size >= rate)
		return (struct as_heap_weight){.count = 1, .bytes = bytes};
	double p = -expm1(-(size ? bytes : 1) / (double)rate), w = bytes / p;
	return (struct as_heap_weight){.count = 1 / p, .bytes = w, .variance = w * (w - bytes)};
}
