#pragma once
/*
 * rollout_progress -- how far a collection is, in the words of NeMo Gym's own: on
 * a terminal in one line, elsewhere a line when much has changed.
 */
#include "run/rollouts.h"

struct as_rollout_line { /* all zeros at first */
	size_t told;     /* steps of progress         */
	bool shown;      /* it is on the terminal     */
};

/* `arg` is the line. */
void as_rollout_progress(void *arg, const struct as_rollouts *r, int64_t t_ns);
void as_rollout_line_wipe(struct as_rollout_line *l);
