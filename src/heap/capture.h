#pragma once
/*
 * capture -- the file of a heap run: blocks that stand for themselves.
 *
 * Blocks are only ever appended, each with its kind, its length and a checksum,
 * compressed by itself: whatever happens to the writer, everything up to its
 * last block is there. docs/formats.md draws them.
 *
 *	head       what was asked for, of which command, when
 *	process    one began, or ended
 *	names      nodes, code, modules, threads that are new since the last
 *	kinds      kinds that are new
 *	events     up to 64 Ki events of a process, as columns, with the least,
 *	           the most and the last of its heap: a reader can pass it by
 *	points     the curve
 *	sums       all sums so far, now and then, and at the end
 *	symbols    names of native addresses, at the end
 *	end        the writer closed it
 */
#include "heap/event.h"
#include "heap/heap.h"
#include "heap/names.h"

#define AS_CAPTURE_SUFFIX ".heap"

/* --- writing ------------------------------------------------------------- */

struct as_capture_head {
	const char *command;
	uint32_t flags; /* of enum as_wire_heap_flags */
	uint64_t sample;
	bool aggregated; /* no events are kept */
	int64_t start_unix_ns, start_ns;
};

struct as_capture; /* being written */

/* A file that is there is not overwritten unless `force`. */
int as_capture_create(const char *path, const struct as_capture_head *head, bool force,
		      struct as_capture **ret, struct as_err *err);
/* Processes are numbered from 0 in the order of these calls. */
int as_capture_process(struct as_capture *c, const struct as_heap_process *p, struct as_err *err);
/* All names of a process: those that were not yet written are. */
int as_capture_names(struct as_capture *c, uint32_t process, const struct as_heap_names *n,
		     struct as_err *err);
int as_capture_kind(struct as_capture *c, uint32_t process, const struct as_heap_kind *k,
		    struct as_err *err);
int as_capture_event(struct as_capture *c, uint32_t process, const struct as_heap_event *e,
		     struct as_err *err);
int as_capture_point(struct as_capture *c, const struct as_heap_point *p, struct as_err *err);
/* What is buffered becomes blocks, with the sums of all processes. Called about each second. */
int as_capture_flush(struct as_capture *c, const struct as_tracker *const *tracker, size_t n,
		     const struct as_heap_totals *combined, struct as_err *err);
int as_capture_ended(struct as_capture *c, uint32_t process, const struct as_heap_process *p,
		     struct as_err *err);
/* The end block; without it a reader says that the writer was killed. */
int as_capture_close(struct as_capture *c, struct as_err *err);
void as_capture_free(struct as_capture *c); /* without closing: the file stays as it is */

/* --- reading ------------------------------------------------------------- */

struct as_capture_want {
	int64_t from_ns, until_ns; /* a part of the time, from the start; 0, 0: all       */
	uint64_t temporary;        /* threshold of temporary allocations; as_tracker_new() */
	bool partial;              /* a damaged file: up to the damage, instead of an error */
	bool slices;               /* `slice` is called                                   */
	int64_t slice_ns;
	/* For each slice of time, the peak of each site in it. */
	int (*slice)(void *arg, uint32_t number, const struct as_heap *peak_of_it,
		     struct as_err *err);
	void *arg;
};

/* want NULL: all of it. */
int as_capture_read(const char *path, const struct as_capture_want *want, struct as_heap **ret,
		    struct as_err *err);
