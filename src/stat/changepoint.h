#pragma once
/*
 * changepoint -- where a series changes its behaviour.
 *
 * Several channels of one timeline (CPU, memory, I/O) are searched together.
 * The search is hierarchical: in a stretch of points it finds the interval
 * that differs most from the rest of the stretch, by the energy statistic of
 * Székely and Rizzo, and asks whether chance would do as well; if not, the
 * stretch is cut at the ends of the interval and each piece is searched again.
 *
 *	outliers     are cut off at four robust deviations before anything else
 *	chance       is noise that never changes but is as rough as the series
 *	             from point to point, and remembers as much, each channel by
 *	             itself; the interval was
 *	             chosen to differ, so it is compared with the best interval of
 *	             each of 99 such series (a t-test after the choice finds
 *	             changes in plain noise)
 *	small change is none: a cut stays only if some channel's mean moves by
 *	             at least its own least effect
 *
 * The noise comes from fixed seeds: the same series always gives the same
 * answer. Work grows with the square of n; 256 points take some 10 ms, much cut 40.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { AS_CHANGE_POINTS = 256, AS_CHANGE_CHANNELS = 6 };

struct as_channel {
	const double *v; /* a value for each point; NaN is unknown                */
	double least;    /* the mean must move by this to matter, and             */
	double ratio;    /* by this share of the larger one of the two means      */
};

struct as_changes {
	size_t n;
	uint16_t at[AS_CHANGE_POINTS]; /* ascending: points that begin something new */
};

/* At most AS_CHANGE_CHANNELS channels of AS_CHANGE_POINTS. Fails only for want of memory. */
int as_changes_find(const struct as_channel *c, size_t channels, size_t n, struct as_changes *ret,
		    struct as_err *err);
/* Does the mean of this channel move enough to matter? Unknown ones never do. */
bool as_channel_moves(const struct as_channel *c, double before, double after);
