#pragma once
/*
 * engine -- start or attach to a job, measure it until it ends, tell a sink.
 *
 * The command is a direct child in our process group: the terminal's Ctrl-C
 * and Ctrl-Z reach it without us, and signals sent to assay itself are passed
 * on. We are a subreaper, so orphans of the job come to us and are counted.
 *
 * The engine is one thread around epoll: the child's pidfd, a timer, signals.
 */
#include "engine/companion.h"
#include "engine/loops.h"
#include "engine/stacks.h"
#include "os/env.h"
#include "run/sink.h"

struct as_engine_config {
	char **argv;                          /* the command; NULL: none is started           */
	const struct as_companion *companion; /* NULL: none. Without a command and a
						 process the run is its alone   */
	/* "NAME=value" each, NULL-ended: what it has in its environment besides ours. */
	char *const *environment;
	int32_t attach; /* a running process to measure; 0: the command */
	bool children;  /* attach: its descendants too                  */
	bool basic;     /* totals only, no samples                      */
	bool wait_all;  /* the run ends with its last process           */
	int64_t interval_ns;
	int64_t timeout_ns;       /* TERM, then KILL five seconds later; 0: none  */
	int64_t duration_ns;      /* stop measuring after this; 0: none. A command is
				     ended as by a timeout, but that is as wanted */
	bool deaf;                /* signals and limits are another thread's      */
	const struct as_ear *ear; /* NULL: none */
	struct as_want want;
	const struct as_stacks_config *stacks; /* NULL: no stacks are sampled */
	struct as_stacks_progress *progress;   /* of that; may be watched     */
	struct as_loops *loops; /* event loops are watched and told here; NULL: they are not */
};

#define AS_STARVED "memory ran out while measuring: some numbers are missing"

/* How the command's end is told to the caller of assay. */
struct as_engine_result {
	struct as_outcome outcome;      /* caller frees outcome.error                */
	int exit_status;                /* for exit(): child's, 128+signal, 124, 126, 127 */
	bool started;                   /* false: the command could not be run       */
	bool interrupted;               /* a signal to us ended the measurement       */
	bool starved;                   /* memory ran out: some numbers are missing  */
	struct as_stacks_result stacks; /* what is to be said beside them            */
};

/*
 * `who` must be filled except for what the job may use and for start and boot
 * times, which are set here at the very start. Fails only when nothing could be
 * measured; a command that cannot be started is a result (126, 127) with its
 * error text.
 */
int as_engine_run(const struct as_env *env, const struct as_engine_config *cfg,
		  struct as_identity *who, struct as_tee *sink, struct as_engine_result *ret,
		  struct as_err *err);
