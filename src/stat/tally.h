#pragma once
/*
 * tally -- mean, min, max and last of a value over time, in constant memory.
 *
 * Samples do not come at even distances (they are denser at the start of a
 * run), so every mean is weighted by time: between two samples a gauge is
 * taken to move in a straight line, and a counter's mean rate is simply its
 * growth over the time it took.
 *
 * A gap (an unknown sample) carries no weight: the tally starts anew after it.
 *
 * Rates need a window: two reads 10 ms apart of a counter that advances in
 * steps of 10 ms would show 0 or 200 %. Neighbouring intervals are joined
 * until they span AS_TALLY_WINDOW; a last piece that is too short is joined to
 * the window before it. So the windows tile the whole time, and the mean is
 * never outside min and max.
 */
#include <stdbool.h>
#include <stdint.h>

#define AS_TALLY_WINDOW INT64_C(100000000) /* 0.1 s */

struct as_tally {
	/* read-only: what was seen so far; NaN while unknown */
	uint64_t n; /* known samples                                   */
	double mean, min, max, last;
	/* private */
	double area;      /* integral of a gauge, growth of a counter   */
	int64_t weight;   /* ns that area covers                        */
	int64_t t, v;     /* the sample before                          */
	int64_t wt, wv;   /* where the open window of a counter began   */
	int64_t pt, pv;   /* and the one before it, which is not final  */
	double low, high; /* extremes of the windows that are final    */
	bool open;        /* t and v are set                            */
	bool windowed;    /* pt and pv are set                          */
};

struct as_tally as_tally_new(void);
void as_tally_gauge(struct as_tally *s, int64_t t_ns, int64_t v);
/* mean, min, max, last are growth a nanosecond: times 1e9 for "a second". */
void as_tally_counter(struct as_tally *s, int64_t t_ns, int64_t v);
void as_tally_gap(struct as_tally *s);
/*
 * At `n` moments, the last of them t_ns, it was what it was before: the same as telling
 * each. A counter that stands still does so between them as well, so the window that was
 * open when it last moved ends where it would with samples as dense as windows.
 */
void as_tally_gauge_stays(struct as_tally *s, int64_t t_ns, uint64_t n);
void as_tally_counter_stays(struct as_tally *s, int64_t t_ns, uint64_t n);
/*
 * The time in ns that the mean and the last rate of a counter are growth over:
 * what grew is a whole number, so with it a rate can be written down short.
 */
int64_t as_tally_time(const struct as_tally *s);
int64_t as_tally_last_time(const struct as_tally *s);
