#pragma once
/*
 * sink -- what a measurement tells whoever keeps or shows it.
 *
 * The calls come in this order: begin, then any mix of origin, instance,
 * frame and stacks, of a load at last what it measured, then end. Among the mix
 * is begin once more, when the command starts and time zero is known: the later
 * one counts. A sink that fails says so once; the engine goes on measuring
 * without it and the failure is reported when the run is over.
 *
 * One sink builds the run in memory (run/builder.h), one writes the live file
 * (store/live.h), one draws the status line; as_tee passes every call on.
 */
#include "run/frame.h"
#include "run/run.h"

struct as_sink {
	const struct as_sink_ops *ops;
	void *state;
	int failed; /* the error code that took it out, or 0 */
	struct as_err err;
};

struct as_sink_ops {
	const char *name;
	/* Each may be NULL: the sink does not care. All arguments are borrowed. */
	int (*begin)(void *st, const struct as_identity *who, struct as_err *err);
	int (*origin)(void *st, enum as_field_id f, const struct as_origin *o, struct as_err *err);
	/*
	 * New, or changed: same scope and id as before, later facts. A text that is
	 * NULL stays as it was; a detail that is "" is not known any more.
	 */
	int (*instance)(void *st, const struct as_instance *i, struct as_err *err);
	int (*frame)(void *st, const struct as_frame *f, struct as_err *err);
	/* Stacks that were seen since the last call, and how sampling went so far. */
	int (*stacks)(void *st, const struct as_profile *seen, const struct as_sampling *so_far,
		      struct as_err *err);
	/* What a load measured: all of it, once. */
	int (*load)(void *st, const struct as_load *l, struct as_err *err);
	int (*end)(void *st, const struct as_outcome *o, const struct as_total *totals,
		   struct as_err *err);
	/* We are about to be stopped (Ctrl-Z): leave the terminal as it was found. */
	int (*pause)(void *st, struct as_err *err);
};

/* Pass one call to every sink of a list that has not failed yet. */
struct as_tee {
	struct as_sink *sinks;
	size_t n;
};

void as_tee_begin(struct as_tee *t, const struct as_identity *who);
void as_tee_origin(struct as_tee *t, enum as_field_id f, const struct as_origin *o);
void as_tee_instance(struct as_tee *t, const struct as_instance *i);
void as_tee_frame(struct as_tee *t, const struct as_frame *f);
void as_tee_stacks(struct as_tee *t, const struct as_profile *seen,
		   const struct as_sampling *so_far);
void as_tee_load(struct as_tee *t, const struct as_load *l);
void as_tee_end(struct as_tee *t, const struct as_outcome *o, const struct as_total *totals);
void as_tee_pause(struct as_tee *t);
