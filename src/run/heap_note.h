#pragma once
/*
 * heap_note -- what a run allocated, in a few numbers, if that was recorded.
 *
 * All of it is in the capture (heap/capture.h), which stays where it was
 * written: a run keeps its path, and what a reader asks first. Sampled, amounts
 * are estimates with the half of their 95 % interval; exact, that is NaN.
 */
#include <stdint.h>

enum { AS_HEAP_OWNERS = 3, AS_HEAP_PATH = 4096 };

struct as_heap_estimate {
	int64_t count, bytes;
	double bytes_95;
};

/* A line that held some of the peak. */
struct as_heap_owner {
	char function[160], file[512]; /* "": unknown */
	int64_t line;                  /* 0: unknown  */
	struct as_heap_estimate held;
};

struct as_heap_note {
	char capture[AS_HEAP_PATH];
	uint64_t sample; /* mean bytes between samples at the end; 0: exact       */
	uint64_t cut;    /* it is not whole: more was allocated than these numbers say */
	int64_t peak_ns; /* since the capture's start                             */
	struct as_heap_estimate made, peak, left;
	uint64_t n; /* of owners */
	struct as_heap_owner owner[AS_HEAP_OWNERS];
};
