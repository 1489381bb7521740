#pragma once
/*
 * rank -- the processes, threads or whatever else a run has a list of that
 * used the most: CPU time, or what the scope's row of the field table says.
 */
#include "run/run.h"

enum { AS_RANK_MAX = 64 };

struct as_rank {
	const struct as_run *run;
	const struct as_instance *at[AS_RANK_MAX]; /* the most first */
	size_t n;
	size_t total; /* how many there are of this scope in the run */
};

struct as_rank as_rank(const struct as_run *run, enum as_scope scope, size_t max);

/* Their own numbers, in ns and bytes; NaN unknown. */
double as_instance_cpu(const struct as_instance *i);
double as_process_peak(const struct as_instance *i);
/* Until it died, or until now. AS_NA when its birth is unknown. */
int64_t as_instance_life(const struct as_run *run, const struct as_instance *i);

/*
 * The ranked processes as a tree: parents before children, children in the
 * order of their birth. A process whose parent is not ranked hangs below its
 * nearest ranked ancestor.
 */
struct as_tree {
	struct {
		const struct as_instance *i;
		int depth;
		bool last;      /* of its parent's children            */
		uint64_t lines; /* bit d: an ancestor at depth d has more */
	} at[AS_RANK_MAX];
	size_t n;
};

struct as_tree as_rank_tree(const struct as_rank *r);
