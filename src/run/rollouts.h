#pragma once
/*
 * rollouts -- what a collection of rollouts came to, beside what it measured as
 * a load (run/load.h), where an attempt is a request.
 *
 * A rollout is back when its result was written. Whatever was asked for and is
 * not back is missing: rows that could not be read, rollouts that failed until
 * nobody tried again, and those that an interruption left.
 *
 * It is part of the load, so that whoever shows the run has it.
 */
#include <stdbool.h>

#include "stat/histogram.h"

struct as_rollouts {         /* of the heap: it holds histograms */
	uint64_t asked;      /* rows that could not be read included; 0: it was none */
	uint64_t before;     /* back already, when an earlier collection ended       */
	uint64_t given_up;   /* then: failed too often, not tried again              */
	uint64_t back;       /* now                                                  */
	uint64_t failed;     /* now, for good                                        */
	uint64_t no_json;    /* … of them, whose answer was no JSON object           */
	uint64_t retried;    /* attempts that were followed by another               */
	uint64_t malformed;  /* rows that could not be read                          */
	uint64_t lost;       /* rollouts that those would have been                  */
	uint64_t unfinished; /* under way when it was interrupted                    */
	int64_t duration_ns;
	uint64_t driven;       /* 1: the resources server, not the agent              */
	uint64_t tools_failed; /* calls of tools that were no success                 */
	uint64_t gym;          /* 1: it is held to the targets (judge/rollouts.h)     */
	uint64_t unwatched;    /* servers on this machine, more than can be watched   */
	struct as_histogram tool, verify, seed; /* ns, as far as rows or driving tell  */
};

/* `to` is all zeros. */
void as_rollouts_copy(struct as_rollouts *to, const struct as_rollouts *from);

static inline uint64_t as_rollouts_missing(const struct as_rollouts *r)
{
	return r->asked - r->before - r->back;
}

/* Of those that are missing, the rest: the end came first, or a resumed one did not have them. */
static inline uint64_t as_rollouts_unsent(const struct as_rollouts *r)
{
	uint64_t lost =
		r->lost > r->malformed ? r->lost : r->malformed; /* kept by an older assay */
	uint64_t known = r->failed + lost + r->given_up + r->unfinished;

	return as_rollouts_missing(r) > known ? as_rollouts_missing(r) - known : 0;
}

/* NaN: none is back. */
static inline double as_rollouts_per_minute(const struct as_rollouts *r)
{
	return r->back && r->duration_ns > 0 ? (double)r->back * 60e9 / (double)r->duration_ns
					     : (double)__builtin_nan("");
}
