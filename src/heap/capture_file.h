#pragma once
/*
 * capture_file -- what a capture holds, all but its events: read in one go.
 *
 * Blocks of events are passed by, and only where they are is kept. So a file of
 * many gigabytes is opened in as long as its names take.
 */
#include "heap/blocks.h"
#include "heap/capture.h"
#include "heap/columns.h"
#include "heap/variants.h"

struct as_file_span {
	struct as_event_span span;
	int64_t at; /* of its events in the file */
};

struct as_file_process {
	struct as_heap_process facts;
	struct as_heap_names names;
	struct as_heap_kind *kind;
	struct as_variants variants; /* sampled only: events have their numbers */
	struct as_file_span *span;
	size_t nkinds, kind_cap, nspans, span_cap;
};

struct as_file_sums {
	int64_t at; /* of the block in the file */
	int64_t ns;
	bool full; /* else what has changed since the one before */
};

struct as_file {
	struct as_blocks_in in;
	struct as_capture_head head; /* the command is ours */
	bool has_head;
	struct as_file_process *process;
	struct as_file_sums *sums;
	struct as_heap_point *point;
	size_t nprocesses, process_cap, nsums, sums_cap, npoints, point_cap;
	struct as_heap_rate raised[AS_HEAP_RATES];
	size_t nraised;
	int64_t events_at; /* of the last block of events; 0: none */
	int64_t end_ns;    /* the last moment that it tells of      */
	bool closed, full; /* its end is there; for the disk was full */
};

/*
 * A file that was cut is read up to there. One that is damaged too, with
 * `partial`; else it is AS_EFORMAT. as_file_done() in any case.
 */
int as_file_open(struct as_file *f, const char *path, bool partial, struct as_err *err);
void as_file_done(struct as_file *f);

/* All sums of the file at one moment. */
struct as_file_totals {
	struct as_heap_totals combined;
	struct as_heap_rss at_peak;
	struct as_heap_totals *process; /* [nprocesses]; those that were not there yet are 0 */
	struct as_heap_sums **sums;     /* [nprocesses][nkinds] */
	size_t n;
};

/* As of the block of sums with that number. */
int as_file_totals(struct as_file *f, size_t sums, struct as_file_totals *ret, struct as_err *err);
void as_file_totals_done(struct as_file_totals *t);
