#pragma once
/*
 * rollout_drive -- a collection of rollouts as a run: what it measured is told
 * to the sinks as the engine tells what it saw of a job.
 */
#include "engine/engine.h"
#include "load/rollout_run.h"

/* As as_engine_run() does. config.stop_fd is set here: SIGINT and SIGTERM end it. */
int as_rollouts_drive(struct as_rollout_config *c, const struct as_env *env,
		      struct as_identity *who, struct as_tee *sinks, struct as_rollouts *out,
		      struct as_engine_result *ret, struct as_err *err);
