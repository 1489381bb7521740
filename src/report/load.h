#pragma once
/*
 * load -- what a load test measured: for people, and as JSON
 * (docs/schema/load-1.json). Nothing of a run that was none.
 */
#include "base/human.h"
#include "base/json.h"
#include "judge/threshold.h"
#include "report/head.h"

/* Requests, errors, percentiles, bytes. */
void as_put_load(const struct as_sheet *s);
/* The summary at the end of `assay load`. */
void as_report_load(struct as_buf *out, const struct as_look *look, const struct as_run *run);
/* A document of its own, and assay.load of the run's: null without. */
void as_report_load_json(struct as_buf *out, const struct as_run *run);
/* For HdrHistogram's tools, for those who read JUnit's tests, for a page of text. */
void as_report_load_hdr(struct as_buf *out, const struct as_run *run);
void as_report_load_junit(struct as_buf *out, const struct as_run *run);
void as_report_load_markdown(struct as_buf *out, const struct as_run *run);
void as_put_load_json(struct as_json *j, const struct as_run *run);

/* Parts of it: how requests ended, by kind and by status; percentiles in ms. */
void as_put_load_outcomes_json(struct as_json *j, const uint64_t *errors, const uint64_t *status,
			       int64_t measured_ns);
/* "3 connections left for what the server said there, …"; false: none was. */
bool as_put_unasked(struct as_buf *out, const struct as_load *l);
/* Words in a cell of Markdown's, where a bar would end it. */
void as_put_markdown(struct as_buf *out, const char *text);
void as_put_load_times_json(struct as_json *j, const char *key, const struct as_histogram *h);

/* What it had to keep to, and whether it did. */
void as_put_thresholds(const struct as_sheet *s);
void as_put_thresholds_json(struct as_json *j, const struct as_load *l);
/* Those that were kept with a load. */
void as_load_thresholds(const struct as_load *l, struct as_thresholds *ret);
/* A value in people's units; "unknown". */
struct as_text as_threshold_text(const struct as_threshold *t, double value);
