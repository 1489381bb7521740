#pragma once
/*
 * moments -- the timelines of the machine, the job and its group as one table.
 *
 * Each scope keeps a series of its own and they need not have the same
 * moments; here they are walked side by side, in the order of time:
 *
 *	struct as_moments m = {.run = run};
 *	while (as_moments_next(&m))
 *		… m.t, as_moments_cell(&m, f, AS_MEAN) …
 */
#include "run/run.h"

enum as_which { AS_MEAN, AS_LEAST, AS_MOST };

struct as_moments {
	const struct as_run *run;
	int64_t t;
	/* private */
	size_t next[AS_NSCOPES];
	bool here[AS_NSCOPES]; /* this scope has a point at t: the one before `next` */
};

bool as_moments_next(struct as_moments *m);
/* Does this scope have a point at this moment, if only one of unknown values? */
bool as_moments_has(const struct as_moments *m, enum as_scope scope);
/* AS_NA when unknown at this moment. */
int64_t as_moments_cell(const struct as_moments *m, enum as_field_id f, enum as_which which);

/* Was the field asked for? Then it is known, or a reason why not. */
bool as_field_wanted(const struct as_run *run, enum as_field_id f);
/* Wanted, and in a timeline. */
bool as_field_timed(const struct as_run *run, enum as_field_id f);
