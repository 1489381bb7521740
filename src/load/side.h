#pragma once
/*
 * side -- one more process that is watched during a load.
 *
 * The first target is measured by the engine that the load runs beside, and is
 * part of its run. Each further one has an engine of its own, in a thread, and a
 * run of its own that says whose part it is.
 */
#include "engine/engine.h"
#include "load/toll.h"
#include "os/worker.h"

struct as_watched {
	char name[AS_LOAD_NAME];
	int32_t pid;
};

struct as_side {
	const struct as_watched *whom;
	struct as_run *run; /* once it is stopped; NULL: there is none */
	/* private */
	const struct as_env *env;
	struct as_engine_config how;
	struct as_companion end; /* its only task is to end it */
	struct as_identity who;
	struct as_builder *builder;
	struct as_loops loops;
	struct as_toll toll;
	struct as_load_target found;
	struct as_worker worker;
	bool at_work;
	int code; /* of its engine */
	struct as_err err;
};

/* What is watched of it; `sessions` as of a toll. */
struct as_side_ask {
	const struct as_watched *whom;
	const struct as_env *env;
	const struct as_sessions *sessions;
};

/* `of` is the run that it is a part of, `how` that is measured. as_side_done() follows. */
int as_side_start(struct as_side *s, const struct as_side_ask *ask, const struct as_identity *of,
		  const struct as_engine_config *how, struct as_err *err);
/* End it; what it took. One that could not be watched says why. */
void as_side_stop(struct as_side *s, struct as_load_target *ret);
void as_side_done(struct as_side *s);
