#pragma once
/*
 * climbing -- a climb (load/climb.h) at a server: each amount is tried by a load
 * that is a run of its own, and lasts until it is decided, or long enough.
 */
#include "cli/load_ask.h"
#include "judge/threshold.h"
#include "load/climb.h"

struct as_climbing {
	/* the caller's */
	struct as_load_job *job;
	const struct as_measure_opts *opts;
	const struct as_thresholds *slo;
	const char *keeps_to, *slo_text; /* the same, as it is kept and as it was asked */
	char **argv;
	int64_t probe_ns, hold_ns;
	uint32_t conns; /* by rate: at most so many at once */
	bool by_rate, quiet;
	struct as_climb climb; /* its first members */

	/* what came of it */
	char id[AS_ID_LEN + 1]; /* of the capacity's run: the probes are parts of it */
	struct as_climb_story story;
	struct as_measured best; /* the load at the answer, or the nearest there is */
	bool has_kept, interrupted;
	struct as_verdict invalid; /* of the last probe that did not count */
};

/* as_climbing_done() follows. Without an error `best` is there. */
int as_climbing_run(struct as_climbing *c, struct as_io *io, struct as_err *err);
void as_climbing_done(struct as_climbing *c);
