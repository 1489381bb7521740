#pragma once
/*
 * rollout_input -- from the rows that somebody wrote to the rollouts that are
 * asked for: each row gets its agent, its task and, once for each repetition,
 * its number, as NeMo Gym's own collector has it, so that either can go on
 * where the other stopped.
 *
 * A row that is no row is told with its line, and the others go on.
 */
#include "load/rollout_list.h"

struct as_rollout_input {
	const char *input;  /* the file of rows                                    */
	const char *output; /* the file of expanded rows; NULL: they are counted only */
	const char *agent;  /* of rows that name none; or NULL                     */
	uint64_t limit;     /* so many rows; 0: all                                */
	bool add_seed;
	struct as_json_text repeats; /* a number, or {"agent": number, "_default": number} */
	struct as_json_text params;  /* an object, laid over each row's parameters      */
	void (*malformed)(void *arg, const char *path, uint64_t line, const struct as_err *why);
	void *arg;
};

struct as_rollout_input_count {
	uint64_t rows, malformed;
	uint64_t good, lost; /* rollouts of them: of each row as many as num_repeats says */
};

/*
 * Adds to `list`. Without an output that is what an earlier collection asked for, which is
 * gone on with: a row that is lost counts as often as then, if that was more.
 */
int as_rollout_expand(const struct as_rollout_input *in, struct as_rollout_list *list,
		      struct as_rollout_input_count *ret, struct as_err *err);

/* One row, expanded for one rollout: `text` is squeezed and appended. */
struct as_rollout_place {
	int64_t task, number;
};
int as_rollout_row(const struct as_rollout_input *in, struct as_json_text row,
		   const struct as_rollout_place *place, struct as_buf *text, struct as_err *err);
