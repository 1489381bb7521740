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
#include "load/pulse.h"
#include "load/rollout_files.h"
#include "load/rollout_flight.h"
#include "load/sessions.h"

enum { AS_ROLLOUTS_AT_ONCE = 1024, AS_ROLLOUTS_AT_ONCE_MOST = 60000 };

struct as_rollout_config {
	const struct as_env *env;
	struct as_rollout_files *files; /* open */
	struct as_rollout_list *list;
	const struct as_rollout_server *servers; /* one for each agent of the list */
	bool driven;                             /* they are resources servers     */
	uint32_t at_once;
	uint32_t retries;    /* of one rollout                                   */
	int64_t timeout_ns;  /* of one request                                   */
	int64_t duration_ns; /* of all; 0: no limit                              */
	/* Once a second and at the end, in the thread that collects. */
	void (*progress)(void *arg, const struct as_rollouts *so_far, int64_t t_ns);
	void *arg;
	struct as_rollouts *out;      /* what is known before is set; the rest becomes so */
	struct as_sessions *sessions; /* each attempt is one, as long as it lasts    */
	bool *failed;                 /* becomes true when rollouts are missing           */
};

/* `config` is a struct as_rollout_config: as struct as_drive has it, until it is told to end. */
int as_rollouts_collect(const void *config, struct as_pulse *pulse, struct as_load *load,
			struct as_err *err);
