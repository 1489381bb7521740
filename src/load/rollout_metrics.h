#pragma once
/*
 * rollout_metrics -- what the agents make of all results: each is sent those of
 * its rows, without what is large, and its answers become one file.
 */
#include "load/rollout_files.h"
#include "load/rollout_flight.h"

/* All results that are in the file, in the order of tasks; servers as in the collection. */
int as_rollout_metrics(const struct as_rollout_files *f, const struct as_rollout_list *list,
		       const struct as_rollout_server *servers, int64_t timeout_ns,
		       struct as_err *err);
