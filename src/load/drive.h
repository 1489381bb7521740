#pragma once
/*
 * drive -- a load as a run: what the generator measured is told to the sinks as
 * the engine tells what it saw of a job.
 */
#include "engine/engine.h"
#include "load/generator.h"

/* As as_engine_run() does; the load itself is a part of the run. */
int as_load_drive(const struct as_load_config *c, struct as_identity *who, struct as_tee *sinks,
		  struct as_engine_result *ret, struct as_err *err);
