#pragma once
/*
 * report -- a run as bytes: for people, for programs, for spreadsheets.
 *
 * Every function appends to a buffer and cannot fail otherwise; look at the
 * buffer once at the end. Nothing here knows where a run came from.
 */
#include "report/look.h"
#include "run/listing.h"
#include "run/run.h"

/* The ten-second summary at the end of `assay run`. */
void as_report_summary(struct as_buf *out, const struct as_look *look, const struct as_run *run);
/* The line below it, of a run that was kept: commands that show more of it. */
void as_report_next(struct as_buf *out, const struct as_look *look, const struct as_run *run);
/* Everything: `assay show`, with text plots. */
void as_report_show(struct as_buf *out, const struct as_look *look, const struct as_run *run);
/* All its processes over time, those alike in one row: `assay show --tree`. */
void as_report_tree(struct as_buf *out, const struct as_look *look, const struct as_run *run);
void as_report_tree_json(struct as_buf *out, const struct as_run *run);
/* Its sockets one by one: `assay show --sockets`. */
void as_report_sockets(struct as_buf *out, const struct as_look *look, const struct as_run *run);
void as_report_sockets_json(struct as_buf *out, const struct as_run *run);
/* The status line of a running job: no newline, at most look->width columns. */
void as_report_status(struct as_buf *out, const struct as_look *look, const struct as_run *run);

/* { "schema": "assay/run/1", … }: Keystone's keys on top, ours under "assay". */
void as_report_json(struct as_buf *out, const struct as_run *run);
/* The timeline: a head of keys, then a line a moment. Unknown is an empty cell. */
void as_report_csv(struct as_buf *out, const struct as_run *run);
/* The same, a JSON document a line: {"t_seconds": 1.5, key: value, …}. */
void as_report_ndjson(struct as_buf *out, const struct as_run *run);
/* One page of HTML that needs nothing else: plots, tables, all of the run. */
void as_report_html(struct as_buf *out, const struct as_run *run);
/* One line of Keystone's jobs_history.jsonl: its keys, its rounding (2 decimals), newline. */
void as_report_keystone(struct as_buf *out, const struct as_run *run);

/* Lists. `now_ns` is CLOCK_REALTIME, for "3 min ago". */
void as_report_jobs(struct as_buf *out, const struct as_look *look, const struct as_listing *l,
		    size_t n, int64_t now_ns);
void as_report_jobs_json(struct as_buf *out, const struct as_listing *l, size_t n);
void as_report_jobs_csv(struct as_buf *out, const struct as_listing *l, size_t n);
void as_report_stats(struct as_buf *out, const struct as_look *look, const struct as_name_stats *s,
		     size_t n);
void as_report_stats_json(struct as_buf *out, const struct as_name_stats *s, size_t n);

/*
 * Keystone's own screens (contracts 4.3), line for line. A history is its head
 * and then its jobs; with none of them the head says so. Tools stand in the
 * order of `s`.
 */
void as_report_job_history(struct as_buf *out, const struct as_look *look, size_t n);
void as_report_job(struct as_buf *out, const struct as_look *look, const struct as_run *run,
		   size_t number);
void as_report_job_details(struct as_buf *out, const struct as_look *look,
			   const struct as_run *run);
void as_report_job_unknown(struct as_buf *out, const struct as_look *look, const char *task);
void as_report_job_stats(struct as_buf *out, const struct as_look *look,
			 const struct as_name_stats *s, size_t n);
