#pragma once
/*
 * family -- the whole process tree of a run, in rows of processes alike.
 *
 * Children stand below their parent in the order of birth. Siblings that have
 * the same name and the same kind of descendants are one row, and so are their
 * children: a build of a thousand files is a handful of rows. Nothing is left
 * out but for what a run does not list.
 */
#include "run/run.h"

enum { AS_FAMILY_BITS = 64, AS_FAMILY_DEPTH = 32 }; /* parts of a bar; levels */

struct as_kin {
	const struct as_instance *first; /* the eldest of them            */
	size_t count, failed;            /* how many; ended badly         */
	size_t unknown;                  /* nobody knows how, or lives    */
	size_t at_once;                  /* the most alive at the same time */
	int depth;
	bool last;       /* of its parent's rows                      */
	uint64_t lines;  /* bit d: an ancestor at depth d has more    */
	double cpu;      /* ns of all; NaN unknown                    */
	double peak;     /* bytes of the largest; NaN unknown         */
	int64_t born_ns; /* of the eldest                             */
	int64_t died_ns; /* of the last one; AS_NA: one is alive      */
	uint64_t alive;  /* bit i: one was alive in this part of the run, of AS_FAMILY_BITS */
};

struct as_family {
	struct as_kin *rows;
	size_t n, cap;
	/* private */
	const struct as_run *run;
	struct as_member *all;
	size_t nall;
};

/* Fails only for want of memory; as_family_done() follows in any case. */
int as_family_of(const struct as_run *run, struct as_family *ret, struct as_err *err);
void as_family_done(struct as_family *f);
