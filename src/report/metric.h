#pragma once
/*
 * metric -- the lines over time (run/line.h), ready to be drawn.
 *
 * Counters are drawn as rates; their
 * neighbouring samples are joined until they span AS_TALLY_WINDOW, as the
 * tallies do it. What is left at the end joins the last of these, so that all
 * growth is drawn: the last column may be above the largest rate of the tally.
 */
#include "run/line.h"

/* In people's terms: see as_tally_shown(). NaN when unknown. */
struct as_spread {
	double mean, min, max, last;
};
struct as_spread as_metric_spread(const struct as_run *run, const struct as_metric *m);

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
