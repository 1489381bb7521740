#pragma once
/*
 * series -- keep a timeline in bounded memory (struct as_series in run.h).
 */
#include "run/run.h"

int as_series_new(enum as_scope scope, struct as_series **ret, struct as_err *err);
/*
 * All memory that it will ever have, now: for a run whose memory shall not grow. Otherwise
 * it comes as it is needed, and a short run has little.
 */
int as_series_take_whole(struct as_series *s, struct as_err *err);
/* One sample: a row of the series' scope. Moments never go back. */
int as_series_add(struct as_series *s, int64_t t_ns, const int64_t *row, struct as_err *err);
/* A column that turned out to be unknown: it always was. */
void as_series_forget(struct as_series *s, size_t column);
void as_series_free(struct as_series *s);
