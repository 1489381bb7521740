#pragma once
/*
 * phases -- the phases of a run (judge/phases.h) as text and as JSON.
 */
#include "base/json.h"
#include "judge/phases.h"
#include "report/head.h"

/* What there is; none when memory ran out, which the buffer is told. */
struct as_phases as_phases_of(const struct as_run *run, struct as_buf *out);
/* A table, and its line of numbers below the plots; nothing when there is only one phase. */
void as_put_phases(const struct as_sheet *s, const struct as_phases *p);
void as_put_phase_marks(const struct as_sheet *s, const struct as_phases *p);
/* "phases": [ … ] */
void as_put_phases_json(struct as_json *j, const struct as_run *run);
