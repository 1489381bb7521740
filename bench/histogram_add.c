/*
 * histogram_add [ROUNDS] -- what it costs to record a latency, and how far off it is told.
 *
 * Ten million latencies, spread as those of a server are, some of them a
 * thousand times the others. A line for each round: CPU nanoseconds a record,
 * less those of going through the same numbers without recording them. The last
 * line: by how much the worst quantile of a hundred is off, as a share of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "stat/histogram.h"
#include "stat/random.h"

enum { VALUES = 1 << 16, TIMES = 160 };

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t sum_up(const int64_t *v)
{
	volatile int64_t sum = 0;

	for (size_t t = 0; t < TIMES; t++)
		for (size_t i = 0; i < VALUES; i++)
			sum += v[i];
	return sum;
}

static double round_ns(struct as_histogram *h, const int64_t *v)
{
	int64_t start = as_clock(CLOCK_THREAD_CPUTIME_ID);

	for (size_t t = 0; t < TIMES; t++)
		for (size_t i = 0; i < VALUES; i++)
			as_histogram_add(h, v[i], 1);
	int64_t between = as_clock(CLOCK_THREAD_CPUTIME_ID);
	(void)sum_up(v);
	int64_t end = as_clock(CLOCK_THREAD_CPUTIME_ID);
	return (double)((between - start) - (end - between)) / ((double)VALUES * TIMES);
}

/* `v` is sorted, and each of it is in the histogram equally often. */
static double worst(const struct as_histogram *h, const int64_t *v)
{
	double most = 0;

	for (int q = 1; q < 100; q++) {
		double truth = (double)v[(size_t)ceil(VALUES * q / 100.) - 1];

		most = fmax(most, fabs((double)as_histogram_at(h, q / 100.) - truth) / truth);
	}
	return most;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct as_histogram *h = as_zalloc(sizeof *h);
	int64_t *v = as_zalloc_n(VALUES, sizeof *v);
	struct as_random r;

	if (!h || !v)
		return 1;
	as_random_seed(&r, 1);
	for (size_t i = 0; i < VALUES; i++)
		v[i] = (int64_t)(1e5 * as_random_exponential(&r) * (i % 100 ? 1 : 1000)) + 1;
	for (int i = 0; i < rounds; i++)
		(void)printf("%.3f\n", round_ns(h, v));
	qsort(v, VALUES, sizeof *v, by_size);
	(void)printf("%.6f\n", worst(h, v));
	free(v);
	free(h);
	return 0;
}
