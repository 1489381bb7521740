#pragma once
/*
 * heap -- what the commands behind `assay heap` share: which capture is read,
 * which part of its time, which of its views.
 *
 * A command puts AS_HEAP_VIEW_OPTS (or AS_HEAP_TIME_OPTS alone) into its table
 * and a struct as_heap_opts into its options.
 */
#include "cli/cmd.h"
#include "cli/sieve.h"
#include "report/heap.h"

struct as_heap_opts {
	int64_t from_ns, until_ns;
	bool partial, leaks, temporary, all;
	bool held;             /* all that is there at the end; no option asks for it */
	const char *threshold; /* a number, 0 too; NULL: that of the capture */
	struct as_sieve sieve;
};

/* clang-format off */
#define AS_HEAP_AT_(owner, member, field) offsetof(owner, member) + offsetof(struct as_heap_opts, field)
#define AS_HEAP_TIME_OPTS(owner, member)                                                           \
	AS_OPT_HEAD("which part of the capture"),                                                  \
	{.name = "from", .type = AS_OPT_DURATION, .arg = "TIME",                                   \
	 .at = AS_HEAP_AT_(owner, member, from_ns),                                                \
	 .help = "only from this time after the start on"},                                        \
	{.name = "until", .type = AS_OPT_DURATION, .arg = "TIME", .positive = true,                \
	 .at = AS_HEAP_AT_(owner, member, until_ns),                                               \
	 .help = "only until this time after the start"},                                          \
	{.name = "partial", .type = AS_OPT_SWITCH, .at = AS_HEAP_AT_(owner, member, partial),      \
	 .help = "of a damaged file what is before the damage"}
#define AS_HEAP_KIND_OPTS(owner, member)                                                           \
	AS_OPT_HEAD("which allocations; without any of these, those of the peak"),                 \
	{.name = "leaks", .type = AS_OPT_SWITCH, .apart = 2,                                       \
	 .at = AS_HEAP_AT_(owner, member, leaks),                                                  \
	 .help = "those that were never freed"},                                                   \
	{.name = "temporary-allocations", .type = AS_OPT_SWITCH, .apart = 6,                       \
	 .at = AS_HEAP_AT_(owner, member, temporary),                                              \
	 .help = "those that were freed before their thread made two more"},                       \
	{.name = "temporary-allocation-threshold", .type = AS_OPT_TEXT, .arg = "N",                \
	 .at = AS_HEAP_AT_(owner, member, threshold),                                              \
	 .help = "those that were freed after at most N more of their thread"},                   \
	{.name = "all", .type = AS_OPT_SWITCH, .apart = 6, .at = AS_HEAP_AT_(owner, member, all),  \
	 .help = "all that were made, freed or not"}
/* Both, and the filters of profiles. */
#define AS_HEAP_VIEW_OPTS(owner, member)                                                           \
	AS_HEAP_KIND_OPTS(owner, member),                                                          \
	AS_HEAP_TIME_OPTS(owner, member),                                                          \
	AS_SIEVE_OPTS(owner, member.sieve)
/* clang-format on */

/* The view that the options ask for, filtered, with what it is of. */
struct as_heap_seen {
	struct as_heap *heap;
	struct as_profile *view;
	size_t samples;      /* that the view had before the filters         */
	struct as_buf title; /* "at the peak, 1.20 s after the start" */
};

/* as_heap_seen_done() follows in any case. Bits of enum as_heap_apart. */
int as_heap_see(const char *path, const struct as_heap_opts *o, unsigned apart,
		struct as_heap_seen *ret, struct as_err *err);
void as_heap_seen_done(struct as_heap_seen *s);
#define as_auto_heap_seen as_cleanup(as_heap_seen_done)
/* seen->view becomes what the filters leave of it. */
int as_heap_sift(struct as_heap_seen *seen, const struct as_heap_opts *o, struct as_err *err);
/* NOTFOUND when there were stacks, and the filters left none of them. */
int as_heap_kept(const struct as_heap_opts *o, size_t before, size_t after, struct as_err *err);
/* What stands above a page of it: the command, cut where it is long, and what it is of. */
void as_heap_seen_title(struct as_buf *out, const struct as_heap_seen *s);
/* What stands below that: whether it was sampled, and what to doubt of it. */
int as_heap_seen_note(struct as_buf *out, const struct as_heap_seen *s,
		      const struct as_heap_opts *o, struct as_err *err);

/* On io->out: by one of report/heap.h; as text with what to doubt of it. */
typedef int (*as_heap_reporter)(struct as_buf *out, const struct as_look *look,
				const struct as_profile *p, const struct as_heap_how *how,
				struct as_err *err);
int as_heap_show(const char *path, const struct as_heap_opts *o, const struct as_heap_how *how,
		 as_heap_reporter report, struct as_io *io, struct as_err *err);

/* What views of stacks tell apart: all that there is. */
enum {
	AS_HEAP_SHOWN = AS_HEAP_PROCESSES | AS_HEAP_THREADS | AS_HEAP_TASKS | AS_HEAP_ALLOCATORS |
			AS_HEAP_SPREAD
};

enum as_heap_view as_heap_view_of(const struct as_heap_opts *o);
/* The capture in this file, as far as the options ask for it. */
int as_heap_read(const char *path, const struct as_heap_opts *o, struct as_heap **ret,
		 struct as_err *err);
/* NOTFOUND when a capture that lasts so long ends before --from. */
int as_heap_reaches(int64_t lasts_ns, int64_t from_ns, struct as_err *err);
