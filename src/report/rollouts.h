#pragma once
/*
 * rollouts -- what a collection of rollouts came to: for people, and as JSON
 * (docs/schema/rollouts-1.json). As a part of a load's report it is there whenever
 * the run is shown.
 */
#include "base/json.h"
#include "judge/rollouts.h"
#include "report/head.h"

struct as_rollouts_report {
	const struct as_run *run; /* NULL: there was nothing to do */
	const struct as_rollouts *rollouts;
	const char *const *files; /* "results", path, …, NULL      */
};

void as_report_rollouts(struct as_buf *out, const struct as_look *look,
			const struct as_rollouts_report *r);
void as_report_rollouts_json(struct as_buf *out, const struct as_rollouts_report *r);

/* The head of a load's report: what is back and what is missing. Nothing of none. */
void as_put_rollouts(const struct as_sheet *s, const struct as_rollouts *r);
/* Its end: times of tools, verify and loops and a session's memory, against the targets. */
void as_put_gym(const struct as_sheet *s, const struct as_rollouts *r);
/* "rollouts" of a load's: null without. */
void as_put_rollouts_json(struct as_json *j, const struct as_load *l);
