#pragma once
/*
 * rollout_run -- collects rollouts: so many at once, each tried again a bounded
 * number of times, every result written the moment it is there.
 *
 * One that fails stops no other. A rollout keeps its place while it waits to be
 * tried again, so a server that is away for a moment does not burn through all
 * of them. What the servers answer is written as they wrote it
 * (base/json_text.h), with the keys that say which rollout it is.
 */
#include "load/rollout_files.h"
#include "load/rollout_flight.h"

enum { AS_ROLLOUTS_AT_ONCE = 1024, AS_ROLLOUTS_AT_ONCE_MOST = 60000 };

struct as_rollout_config {
	struct as_rollout_files *files; /* open */
	struct as_rollout_list *list;
	const struct as_rollout_server *servers; /* one for each agent of the list */
	bool driven;                             /* they are resources servers     */
	uint32_t at_once;
	uint32_t retries;    /* of one rollout                                   */
	int64_t timeout_ns;  /* of one request                                   */
	int64_t duration_ns; /* of all; 0: no limit                              */
	int stop_fd;         /* becomes readable when it shall end               */
	void (*progress)(void *arg, const struct as_rollouts *so_far, const struct as_load *l,
			 int64_t t_ns);
	void *arg;
};

/* `ret` and `load` are all zeros but for what is known before. *ret_stopped: stop_fd ended it. */
int as_rollouts_collect(const struct as_rollout_config *c, struct as_rollouts *ret,
			struct as_load *load, bool *ret_stopped, struct as_err *err);
