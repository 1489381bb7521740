#pragma once
/*
 * heap -- where the memory of a job went: for people, and for programs.
 *
 * Views of stacks come as profiles (heap/heap.h makes them), so that whatever
 * filters a profile has done its part before. Of a heap that was sampled every
 * amount is an estimate, and bears the half of its 95 % interval: the profile
 * then has kinds with the variances.
 */
#include "heap/sight.h"
#include "profile/write.h"
#include "report/head.h"

/* How a view of stacks is shown. */
struct as_heap_how {
	struct as_spelling spell;
	size_t rows;
	enum { AS_HEAP_TOTAL, AS_HEAP_OWN, AS_HEAP_COUNT } sort;
	double least;      /* tree: branches below this share are left out      */
	const char *title; /* "at the peak, 1.20 s after the start"             */
	const char *note;  /* of a page: what to know of its numbers; "": nothing */
	uint64_t rate;     /* that it was sampled at; 0: it is exact            */
	bool json;         /* as a document: summary, table, tree               */
	bool whole;        /* nothing is missing at the end of the capture      */
	enum as_heap_view view;
};

/* "at the peak", "left at the end" … */
const char *as_heap_view_title(enum as_heap_view view);

/* --- the whole of it ------------------------------------------------------ */

/* At most `rows` of each list. */
int as_report_heap_stats(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
			 size_t rows, struct as_err *err);
/* { "schema": "assay/heap-stats/1", … } */
int as_report_heap_stats_json(struct as_buf *out, const struct as_heap *h, size_t rows,
			      struct as_err *err);
/* What a person wants to know in ten seconds. */
int as_put_heap(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
		size_t rows, struct as_err *err);
/* How much CPython's arenas are, and what they are; nothing where there are none. */
void as_put_heap_arenas(struct as_buf *out, const struct as_look *look, const struct as_heap *h);
/* What is missing or wrong, each in lines of its own. */
void as_put_heap_doubts(struct as_buf *out, const struct as_look *look, const struct as_heap *h);

/*
 * The same in one line, for a page; before it, of a heap that was sampled, how, and if `all` of
 * the view is shown, with its interval. Nothing where there is nothing to say.
 */
int as_put_heap_page_note(struct as_buf *out, const struct as_heap *h, enum as_heap_view view,
			  bool all, struct as_err *err);

/* --- while it runs -------------------------------------------------------- */

/* How fast it allocates, from one look to the next. */
struct as_heap_pace {
	double count, bytes; /* a second; NaN: unknown                       */
	struct as_heap_amount made;
	bool begun;
};

/* All that was made so far, `ns` after the last time. */
void as_heap_pace(struct as_heap_pace *p, struct as_heap_amount made, int64_t ns);

struct as_heap_live {
	const struct as_heap *heap; /* of heap/sight.h */
	const struct as_sight_now *now;
	const struct as_heap_pace *pace;
	bool running;
};

/* A line: when, what there is, how fast, who holds most; and what stands above the first. */
void as_put_heap_live_head(struct as_buf *out);
int as_put_heap_live(struct as_buf *out, const struct as_look *look, const struct as_heap_live *l,
		     struct as_err *err);
/* The same as a line of JSON, with at most `rows` lines of code: "assay/heap-live/1". */
int as_report_heap_live_json(struct as_buf *out, const struct as_heap_live *l, size_t rows,
			     struct as_err *err);

/* --- views of stacks ------------------------------------------------------ */

/* By function: with what it called, itself, how often. */
int as_report_heap_summary(struct as_buf *out, const struct as_look *look,
			   const struct as_profile *p, const struct as_heap_how *how,
			   struct as_err *err);
/* By line, thread and allocator, of a profile that has these tags. */
int as_report_heap_table(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			 const struct as_heap_how *how, struct as_err *err);
/* The same as a page: all rows, to be sorted, searched and summed. */
int as_report_heap_table_html(struct as_buf *out, const struct as_profile *p,
			      const struct as_heap_how *how, struct as_err *err);
/* From the outermost caller on, the biggest branches. */
int as_report_heap_tree(struct as_buf *out, const struct as_look *look, const struct as_profile *p,
			const struct as_heap_how *how, struct as_err *err);
/* A line a stack: its tags, allocations, bytes, frames from the outermost on. */
void as_report_heap_csv(struct as_buf *out, const struct as_profile *p, uint64_t rate);

/* --- parts of these ------------------------------------------------------- */

/*
 * Half of the 95 % interval, of bytes or of a count. Of what no sample was seen
 * the upper end: with a chance of 5 % three times the rate are passed over, in
 * blocks of one byte so many of them.
 */
double as_heap_spread(int64_t amount, double variance, uint64_t rate);
/* "3.12 MiB", or with an interval "3.12 MiB ± 410 KiB"; rate 0: it is exact. */
void as_put_heap_bytes(struct as_buf *out, int64_t bytes, double variance, uint64_t rate);
/* "12 345", or "~12 345"; with its interval "12 345 ± 210". */
void as_put_heap_count(struct as_buf *out, int64_t count, bool sampled);
void as_put_heap_number(struct as_buf *out, int64_t count, double variance, uint64_t rate);
/* The lines with the most of a view, as a table. */
struct as_heap_lines_how {
	enum as_heap_view view;
	enum as_heap_order order;
	size_t rows;
	int indent;
};
/* The same as an array of objects. */
struct as_json;
/* "peak_bytes" and "peak_bytes_95", which is null where it is exact. */
void as_json_estimate(struct as_json *j, const char *key, const struct as_heap *h, int64_t amount,
		      double variance);
int as_json_heap_lines(struct as_json *j, const char *key, const struct as_heap *h,
		       const struct as_heap_lines_how *how, struct as_err *err);
int as_put_heap_lines(struct as_buf *out, const struct as_look *look, const struct as_heap *h,
		      const struct as_heap_lines_how *how, struct as_err *err);
