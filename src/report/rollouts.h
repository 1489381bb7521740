#pragma once
/*
 * rollouts -- what a collection of rollouts came to: for people, and as JSON
 * (docs/schema/rollouts-1.json).
 */
#include "judge/rollouts.h"
#include "report/head.h"

struct as_rollouts_report {
	const struct as_run *run; /* NULL: there was nothing to do */
	const struct as_rollouts *rollouts;
	const struct as_gym_target *targets; /* AS_GYM_TARGETS of them, or NULL */
	const char *const *files;            /* "results", path, …, NULL        */
};

void as_report_rollouts(struct as_buf *out, const struct as_look *look,
			const struct as_rollouts_report *r);
void as_report_rollouts_json(struct as_buf *out, const struct as_rollouts_report *r);
