#pragma once
/*
 * growth -- does the memory of a job grow without end?
 *
 * A leak shows in the slope of a long run, not in one number. The slope is
 * robust (stat/theilsen.h) and has an interval; the answer is three-way, and
 * an alarm needs more than a slope that is surely above zero:
 *
 *	- enough time and samples, the first tenth (loading, warm-up) left out
 *	- growth that matters, and is larger than the memory's own ups and downs:
 *	  the saw teeth of a garbage collector are no leak
 *	- growth in both halves: one step, or a cache that fills, is no leak
 */
#include "run/run.h"

/* X(id, name): the answers. */
#define AS_GROWTHS(X)                                                                              \
	X(GROWTH_UNKNOWN, "cannot tell")                                                           \
	X(GROWTH_NONE, "does not grow")                                                            \
	X(GROWTH_ALARM, "grows")

enum as_growth_answer {
#define X(id, name) AS_##id,
	AS_GROWTHS(X)
#undef X
};

/* Numbers are NaN when unknown. */
struct as_growth {
	enum as_growth_answer answer;
	const char *why;        /* of an answer that cannot be given, else ""      */
	double rate, low, high; /* bytes a second, with its 95 % interval          */
	double span;            /* seconds that were looked at                     */
	double limit;           /* bytes that the job may use                      */
	double left;            /* seconds until they are used, at this rate       */
};

struct as_growth as_growth_of(const struct as_run *run);
const char *as_growth_name(enum as_growth_answer answer);
