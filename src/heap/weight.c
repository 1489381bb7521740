#include <math.h>

#include "heap/tracker.h"

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

static int64_t whole(double v)
{
	return v < 0x1p62 ? (int64_t)(v + 0.5) : INT64_C(1) << 62;
}

/* A part of a mapping stands for the same part of what the mapping does. */
static struct as_heap_share sampled(uint64_t size, const struct as_heap_event *e)
{
	struct as_heap_weight w = as_heap_weight(size, e->rate);
	double part = size ? (double)e->bytes / (double)size : 1;

	return (struct as_heap_share){whole(w.count * (double)AS_HEAP_ONE), whole(w.bytes * part),
				      w.variance * part};
}

struct as_heap_share as_heap_share(uint64_t size, const struct as_heap_event *e)
{
	struct as_heap_share s = {AS_HEAP_ONE, (int64_t)e->bytes, 0};

	if (e->rate)
		s = sampled(size, e);
	if (e->what == AS_HEAP_CUT)
		s.count = 0;
	return s;
}

struct as_heap_share as_heap_share_then(uint64_t size, const struct as_heap_event *e)
{
	struct as_heap_event then = *e;

	then.rate = e->becomes;
	return e->becomes ? as_heap_share(size, &then) : (struct as_heap_share){0};
}
