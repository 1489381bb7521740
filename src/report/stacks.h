#pragma once
/*
 * stacks -- what a run's stacks say at a glance: the functions that took most,
 * and how sampling went. Nothing without stacks.
 */
#include "base/json.h"
#include "report/head.h"

/* At most `rows` functions, by each kind of value (report/hot.h). */
void as_put_stacks(const struct as_sheet *s, size_t rows);
/* "1,240 samples in 12.4 s, 0.02 % rejected, 0 late" */
void as_put_sampling(struct as_buf *out, const struct as_run *run);
/* "950 ms of 1.97 s CPU in no stack: …", a line where that is a good part of it, else nothing. */
void as_put_unseen(struct as_buf *out, const struct as_run *run, const char *indent);
/* How the samples of a profile were taken, as an object; null: nobody knows. */
void as_put_taking_json(struct as_json *j, const char *key, const struct as_taking *t);
/* How sampling went, as members of an object. */
void as_put_sampling_json(struct as_json *j, const struct as_run *run);
/* Its `kinds`, and its `functions` by the last of them, as members of an object; NULL has none. */
void as_put_profile_json(struct as_json *j, const struct as_profile *p);
/* assay.stacks of the run's document; null without. */
void as_put_stacks_json(struct as_json *j, const struct as_run *run);
