#pragma once
/*
 * busy -- was the job at work in a span of its run, or idle?
 */
#include "run/run.h"

/* A span is idle when less than this part of one core was used in it. */
#define AS_BUSY_LEAST 0.05

/* By its CPU time on the timeline; a span of which nothing is known counts as busy. */
bool as_run_busy(const struct as_run *run, int64_t from_ns, int64_t to_ns);
