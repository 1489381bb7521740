#pragma once
/*
 * clockwork -- when the next sample is due.
 *
 * Dense at first (every 10 ms for 0.1 s, every 50 ms until 1 s), because short
 * jobs and start-ups would else be a single point; then at the interval, on a
 * grid that does not drift: a slow tick makes the next one late, never all.
 */
#include <stdint.h>

struct as_clockwork {
	int64_t interval_ns;
	int64_t due_ns; /* since the run's start                        */
	uint64_t ticks, late;
};

/* The moment of the first sample after the start. */
void as_clockwork_start(struct as_clockwork *c, int64_t interval_ns);
/* A sample was taken at t_ns: count it, and set when the next is due. */
void as_clockwork_tick(struct as_clockwork *c, int64_t t_ns);
