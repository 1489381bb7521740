#pragma once
/*
 * capture -- the file of a heap run: blocks that stand for themselves.
 *
 * Blocks are only ever appended, each with its type, its length and a checksum,
 * compressed by itself: whatever happens to the writer, everything up to its
 * last block is there. docs/formats.md draws them.
 *
 *	head       what was asked for, of which command, when
 *	process    one began, or more is known of it
 *	names      nodes, code, modules, threads, symbols that are new since the last
 *	kinds      kinds that are new
 *	span       a process's next events, from when to when: a reader can pass them by
 *	events     up to 64 Ki of them, as columns (columns.h)
 *	points     the curve
 *	rate       of samples: it was made larger, or smaller again
 *	sums       all sums so far, now and then, and at the end
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
	uint64_t temporary; /* threshold of temporary allocations; as_tracker_new() */
	bool aggregated;    /* no events are kept */
	int64_t start_unix_ns, start_ns;
};

struct as_capture; /* being written */

/* All sums at one moment: of every process that was ever told, in its order. */
struct as_capture_sums {
	const struct as_tracker *const *tracker;
	size_t n;
	struct as_heap_totals combined;
	struct as_heap_rss at_peak;
};

/*
 * A file that is there is not overwritten unless `force`. When the disk is full
 * (or anything else goes wrong) one call fails and says so; all later ones do
 * nothing and succeed, and the file ends with its last whole block.
 */
int as_capture_create(const char *path, const struct as_capture_head *head, bool force,
		      struct as_capture **ret, struct as_err *err);
/* Processes are numbered from 0 in the order of these calls. */
int as_capture_process(struct as_capture *c, const struct as_heap_process *p, struct as_err *err);
/* All names of a process: those that were not yet written are. Symbols come once, at the end. */
int as_capture_names(struct as_capture *c, uint32_t process, const struct as_heap_names *n,
		     struct as_err *err);
int as_capture_kind(struct as_capture *c, uint32_t process, const struct as_heap_kind *k,
		    struct as_err *err);
int as_capture_event(struct as_capture *c, uint32_t process, const struct as_heap_event *e,
		     struct as_err *err);
/* Not of a sample. */
int as_capture_batch(struct as_capture *c, uint32_t process, const struct as_heap_batch *row,
		     struct as_err *err);
/* Sampled: from now on one in so many bytes. */
int as_capture_rate(struct as_capture *c, const struct as_heap_rate *r, struct as_err *err);
int as_capture_point(struct as_capture *c, const struct as_heap_point *p, struct as_err *err);
/*
 * What is buffered becomes blocks, with the sums now and then. Called about each
 * second with kinds and names written before: blocks refer to them.
 */
int as_capture_flush(struct as_capture *c, int64_t ns, const struct as_capture_sums *s,
		     struct as_err *err);
/* What is known of it now: it ended, or lost something. */
int as_capture_ended(struct as_capture *c, uint32_t process, const struct as_heap_process *p,
		     struct as_err *err);
/* The last sums and the end block; without it a reader says that the writer was killed. */
int as_capture_close(struct as_capture *c, int64_t ns, const struct as_capture_sums *s,
		     struct as_err *err);
void as_capture_free(struct as_capture *c); /* without closing: the file stays as it is */

static inline void as_capture_free_(struct as_capture **c)
{
	as_capture_free(*c);
}

#define as_auto_capture as_cleanup(as_capture_free_)

/* --- reading ------------------------------------------------------------- */

struct as_capture_slice {
	uint32_t number;                   /* from 0, the start of what is read  */
	struct as_heap_amount high;        /* at the highest moment              */
	const struct as_heap_amount *peak; /* of each site at that moment        */
};

struct as_capture_want {
	int64_t from_ns, until_ns; /* a part of the time, from the start; 0, 0: all       */
	bool threshold;            /* `temporary` instead of what was recorded             */
	uint64_t temporary;        /* threshold of temporary allocations; as_tracker_new() */
	bool partial;              /* a damaged file: up to the damage, instead of an error */
	/*
	 * Not NULL: called for each slice of `slice_ns`, with what each site held at
	 * the highest moment in it (of all processes together). The sites of `h`,
	 * with their stacks, are those of the heap that is returned; its sums
	 * are not there yet.
	 */
	int (*slice)(void *arg, const struct as_heap *h, const struct as_capture_slice *s,
		     struct as_err *err);
	int64_t slice_ns;
	void *arg;
	bool lasting; /* what was made and freed in which slice of slice_ns: as_heap.lasting */
};

/*
 * want NULL: all of it. Of a part of the time: made, left and temporary are of
 * what was allocated in it, the peak is the highest moment in it with all that
 * was there, whenever it was made.
 */
int as_capture_read(const char *path, const struct as_capture_want *want, struct as_heap **ret,
		    struct as_err *err);
