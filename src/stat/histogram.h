#pragma once
/*
 * histogram -- many durations (or sizes) in constant memory, as counts.
 *
 * Buckets are log-linear, as HdrHistogram's are: each power of two is cut into
 * 1024, so that a value is told to within 0.05 % wherever it lies, and values
 * below 2048 exactly. They are the very buckets of an HdrHistogram with three
 * digits (report/hdr.h). Adding costs a few instructions; two can be merged and
 * nothing is lost by it. The least and the largest value are kept as they are.
 */
#include <stddef.h>
#include <stdint.h>

enum {
	AS_HISTOGRAM_BITS = 10,
	AS_HISTOGRAM_BUCKETS = (64 - AS_HISTOGRAM_BITS) << AS_HISTOGRAM_BITS,
};

struct as_histogram { /* 432 KiB: of the heap, where pages that were never touched cost
			 nothing; all zeros is empty */
	uint64_t n;
	int64_t min, max; /* of no value: 0                          */
	double sum;
	uint64_t settled; /* private: its pages were taken, and stay */
	uint64_t count[AS_HISTOGRAM_BUCKETS];
};

/* `times` values `v`; one below 0 counts as 0. */
void as_histogram_add(struct as_histogram *h, int64_t v, uint64_t times);
void as_histogram_merge(struct as_histogram *to, const struct as_histogram *from);
/* Empty again; pages stay. */
void as_histogram_clear(struct as_histogram *h);
/*
 * If `like`, which may be itself, has a value: the pages of all values up to 2^36 (a minute
 * in ns), at once. Memory that is only touched when a rare value comes grows for hours.
 */
void as_histogram_settle(struct as_histogram *h, const struct as_histogram *like);
/* NaN: there are none. */
double as_histogram_mean(const struct as_histogram *h);
/* The value that a share q (0..1) of all do not pass; -1: there are none. */
int64_t as_histogram_at(const struct as_histogram *h, double q);
/* How many are in [from, below), to within a bucket at either end. */
uint64_t as_histogram_within(const struct as_histogram *h, int64_t from, int64_t below);

/*
 * The same buckets with another number of bits, which is how programs in the
 * kernel count: which one holds v, and the value in the middle of one.
 */
uint64_t as_bucket_middle(size_t bucket, unsigned bits);

/*
 * Up to 2^(bits+1) a bucket is a value. Above, one of 2^shift values: the top
 * bits of v, counted on from where the power of two below ended.
 */
static inline size_t as_bucket_of(uint64_t v, unsigned bits)
{
	if (v < UINT64_C(2) << bits)
		return (size_t)v;
	unsigned shift = 63 - (unsigned)__builtin_clzll(v) - bits;
	return ((size_t)shift << bits) + (size_t)(v >> shift);
}
