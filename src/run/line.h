#pragma once
/*
 * line -- the few lines over time that people look at first, each from the
 * best source that this run has.
 *
 * A metric is a field, or the sum of two fields of one scope.
 */
#include "run/run.h"

struct as_metric {
	enum as_field_id f[2];
	size_t n; /* how many of f count */
};

enum as_line {
	AS_L_CPU,
	AS_L_USER, /* of it in user code */
	AS_L_WAIT, /* ready, but no CPU was free */
	AS_L_MEMORY,
	AS_L_READ, /* from devices       */
	AS_L_WRITE,
	AS_L_READ_CALLS, /* from anything: cache, pipes, sockets too */
	AS_L_WRITE_CALLS,
	AS_L_PROCS,
	AS_L_THREADS,
	AS_NLINES
};

/* Where this run has the line from; NULL when it was never known. */
const struct as_metric *as_metric_of(const struct as_run *run, enum as_line line);
/* Its timeline, or NULL. */
const struct as_series *as_metric_series(const struct as_run *run, const struct as_metric *m);
/* The metric at point i, from the means of the series or its largest values; AS_NA unknown. */
int64_t as_metric_point(const struct as_series *s, const struct as_metric *m, size_t i, bool most);

/* The end of the time axis: the run's duration, or its last sample. At least 1. */
int64_t as_run_span(const struct as_run *run);
