#pragma once
/*
 * drive -- a load as a run: the generator in a thread of its own, as the
 * companion of an engine that samples the machine, and the process that is
 * loaded, if that is known.
 *
 * At each sample the run is told what ended since the one before: so rate,
 * errors and percentiles are on its timeline, beside what the target used.
 */
#include <stdatomic.h>

#include "load/pulse.h"
#include "load/side.h"

struct as_drive {
	/* the caller's; the first that is watched is the engine's own target */
	const struct as_env *env;
	/* What sends, in a thread of its own, until it is done or told through the pulse. */
	int (*generate)(const void *config, struct as_pulse *pulse, struct as_load *ret,
			struct as_err *err);
	const void *config;
	const struct as_watched *watched;
	size_t nwatched;
	struct as_loops *loops;             /* as in the engine's configuration */
	const struct as_sessions *sessions; /* that the generator holds open; or NULL */
	const char *thresholds;             /* that are kept with it, as one list; or NULL */
	const bool *failed;                 /* it did not come to what was asked for; or NULL */

	/* for whoever shows it meanwhile, in the engine's thread */
	struct as_load_state state; /* as it was last told            */
	struct as_load_slice *last; /* what ended before that         */
	struct as_load_slice *all;  /* … and all that ended           */

	/* once it is over */
	struct as_side side[AS_LOAD_TARGETS]; /* runs of the others: side[1] on */

	/* private */
	struct as_companion companion;
	struct as_pulse *pulse;
	struct as_load *out;
	struct as_toll toll;
	struct as_worker worker;
	bool at_work;
	_Atomic bool ended; /* the generator has                */
	int over;           /* eventfd: the same                */
	int signal;         /* that ended it                    */
	int code;           /* of the generator                 */
	struct as_err err;
};

/* All but the caller's members are set; as_drive_done() follows in any case. */
int as_drive_open(struct as_drive *d, struct as_err *err);
/* For the engine; d stays where it is. */
const struct as_companion *as_drive_companion(const struct as_drive *d);
/* End it, with all that is measured; for keys. */
void as_drive_stop(struct as_drive *d);
void as_drive_done(struct as_drive *d);
