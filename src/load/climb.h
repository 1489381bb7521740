#pragma once
/*
 * climb -- the search for the largest amount that keeps to something: doubled
 * until one misses it, halved between the two, and the answer held for a while;
 * when that fails, a little less is held.
 *
 * It says what to try and is told what came of it; who tries is somebody else.
 */
#include <stdbool.h>
#include <stdint.h>

#include "run/climb.h"

enum as_climb_phase {
	AS_CLIMB_GROW,
	AS_CLIMB_SHRINK, /* already the first one missed it */
	AS_CLIMB_HALVE,
	AS_CLIMB_HOLD,
	AS_CLIMB_OVER,
};

struct as_climb {
	/* the caller's */
	double from, most;
	double least;     /* of less nothing could be told; 0: of anything can */
	double precision; /* how near low and high must be: 0.02 of low */
	bool whole;       /* amounts are whole numbers                  */
	/* what to try next, and how */
	enum as_climb_phase phase;
	double amount;
	/* what is known: 0 and INFINITY are nothing */
	double low, high;
	enum as_climb_end end; /* once it is over */
	/* private */
	unsigned tries, holds;
};

void as_climb_begin(struct as_climb *c);
/* What came of c->amount. */
void as_climb_tell(struct as_climb *c, enum as_climb_verdict v);
/* Over now, whatever is known. */
void as_climb_stop(struct as_climb *c, enum as_climb_end why);
/* The largest that is known to keep to it; NaN: none. */
double as_climb_answer(const struct as_climb *c);
/* The end of the story, from it and from the probes: answer, what lies above it, the end. */
void as_climb_conclude(const struct as_climb *c, struct as_climb_story *story);
