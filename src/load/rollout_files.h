#pragma once
/*
 * rollout_files -- what a collection leaves behind, and finds again.
 *
 * For `out.jsonl`, as NeMo Gym's collector names them:
 *
 *	out.jsonl                       results, one line each, as they came
 *	out_materialized_inputs.jsonl   what was asked for (load/rollout_input.h)
 *	out_failures.jsonl              what the agent answered instead of a result
 *	out_aggregate_metrics.json      what the agents make of all results
 *	out_timings.jsonl               ours: when each was sent, and how it ended
 *
 * A line is written whole, by one call, so a process that is killed leaves at
 * most one torn line, at the end: it is cut off before anything is added. One
 * collection at a time: the file of results is locked.
 */
#include "load/rollout_list.h"

struct as_rollout_files {
	char *output, *inputs, *failures, *timings, *metrics;
	char *part;                 /* the inputs, until they are whole */
	int out, in, failed, timed; /* descriptors, or -1 */
};

struct as_rollout_recall {
	bool found;         /* there was something to go on with        */
	uint64_t asked;     /* rollouts of the inputs                   */
	uint64_t done;      /* of them among the results                */
	uint64_t given_up;  /* failed too often, or for good            */
	uint64_t torn;      /* files whose last line was cut off        */
	uint64_t malformed; /* lines of results that say nothing        */
};

#define AS_ROLLOUT_FILES ((struct as_rollout_files){.out = -1, .in = -1, .failed = -1, .timed = -1})

/* The names; the folder is made if it is not there. as_rollout_files_done() in any case. */
int as_rollout_files_init(struct as_rollout_files *f, const char *output, struct as_err *err);
/* USAGE when `input` is one of those that are written. */
int as_rollout_files_apart(const struct as_rollout_files *f, const char *input, struct as_err *err);
/*
 * Opens them. With `resume` the list becomes what was asked for before, if that
 * is there; else they stay as they are until as_rollout_files_begin().
 */
int as_rollout_files_open(struct as_rollout_files *f, bool resume, uint64_t attempts_most,
			  struct as_rollout_list *list, struct as_rollout_recall *ret,
			  struct as_err *err);
/*
 * From now on they are those of this collection: without `found` everything is
 * emptied, and what was written to `part` becomes the inputs.
 */
int as_rollout_files_begin(struct as_rollout_files *f, bool found, struct as_err *err);
void as_rollout_files_done(struct as_rollout_files *f);

/* A line, which ends with a '\n', or nothing of it. */
int as_rollout_append(int fd, const char *path, const struct as_buf *line, struct as_err *err);
