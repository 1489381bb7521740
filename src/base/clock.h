#pragma once
/*
 * clock -- time has one type: int64_t nanoseconds.
 *
 * Durations and timelines use CLOCK_MONOTONIC; a run keeps one anchor
 * {realtime, boottime, boot id} so that its moments can be told to people.
 */
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define AS_SECOND INT64_C(1000000000)
#define AS_MSEC   INT64_C(1000000)
#define AS_USEC   INT64_C(1000)

static inline int64_t as_clock(clockid_t id)
{
	struct timespec t = {0};

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * AS_SECOND + t.tv_nsec;
}

static inline int64_t as_now(void)
{
	return as_clock(CLOCK_MONOTONIC);
}

/*
 * What CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC: it grows while the machine
 * is suspended, by as much as no other clock here tells.
 */
static inline int64_t as_boot_ahead(void)
{
	return as_clock(CLOCK_BOOTTIME) - as_now();
}

static inline struct timespec as_timespec(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / AS_SECOND, .tv_nsec = ns % AS_SECOND};
}

static inline int64_t as_timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * AS_SECOND + (int64_t)t.tv_usec * AS_USEC;
}

static inline double as_seconds(int64_t ns)
{
	return (double)ns / 1e9;
}
