#pragma once
/*
 * metric -- the few lines over time that people look at first, each from the
 * best source that this run has, ready to be drawn.
 *
 * A metric is a field, or the sum of two. Counters are drawn as rates; their
 * neighbouring samples are joined until they span AS_TALLY_WINDOW, as the
 * tallies do it. What is left at the end joins the last of these, so that all
 * growth is drawn: the last column may be above the largest rate of the tally.
 */
#include "run/run.h"

struct as_metric {
	enum as_field_id f[2];
	size_t n; /* how many of f count */
};

enum as_line { AS_L_CPU, AS_L_MEMORY, AS_L_READ, AS_L_WRITE, AS_L_PROCS, AS_L_THREADS, AS_NLINES };

/* Where this run has the line from; NULL when it was never known. */
const struct as_metric *as_metric_of(const struct as_run *run, enum as_line line);

/* In people's terms: see as_tally_shown(). NaN when unknown. */
struct as_spread {
	double mean, min, max, last;
};
struct as_spread as_metric_spread(const struct as_run *run, const struct as_metric *m);

/* The end of the time axis: the run's duration, or its last sample. At least 1. */
int64_t as_run_span(const struct as_run *run);

enum { AS_PARTS_MAX = 256 };

/*
 * The metric in `n` (1..AS_PARTS_MAX) equal parts of the run: the mean rate of a counter, the
 * largest value of a gauge, NaN where nothing is known. False: all of it is.
 */
bool as_metric_draw(const struct as_run *run, const struct as_metric *m, double *v, size_t n);

/*
 * The share of the machine's CPU time that was busy, as psutil counts it: all
 * but idle and iowait. Ratios of 1.
 */
struct as_spread as_system_busy(const struct as_run *run);
