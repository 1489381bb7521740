#pragma once
/*
 * heap -- where the memory of a job went: what every report is made of.
 *
 * A site is a stack of a thread of a process, with what was allocated there. It
 * comes from a capture (capture.h) through a tracker for each process, for all
 * of its time or a part of it; stacks have their names.
 */
#include "base/cleanup.h"
#include "heap/tracker.h"
#include "profile/profile.h"

struct as_heap_site {
	uint32_t process, thread; /* in the arrays below                             */
	uint32_t stack;           /* in `stacks`; its last place made the allocation */
	uint32_t op;              /* of enum as_wire_op                              */
	struct as_heap_sums sums;
};

struct as_heap_process {
	uint32_t pid, parent;
	char *command;
	uint32_t python; /* minor version; 0: no Python                                */
	uint32_t why;    /* of enum as_wire_heap_why: what could not be done           */
	int64_t start_ns, end_ns;
	bool killed;    /* it did not end in order                                        */
	bool attached;  /* it ran before: what it had then is not known                  */
	int64_t before; /* frees of what it had then; -1: unknown (sampled)             */
	uint64_t lost, clipped, nested;
	int64_t waited_ns;
	uint64_t unfollowed; /* processes that it started, and that were not recorded        */
	struct as_heap_totals totals;
};

struct as_heap_who {
	uint32_t process, tid;
	char *name; /* NULL: unknown */
};

/* One moment of one process. Unknown is -1. */
struct as_heap_point {
	int64_t ns;
	uint32_t process;
	int64_t heap, rss;
	int64_t file;   /* of the RSS: mapped files, and memory that is shared            */
	int64_t mapped; /* of the heap: files, which are no memory of the program's own   */
};

/* RSS at the peak of it, and what it was made of; -1: unknown. */
struct as_heap_rss {
	int64_t rss, anonymous, file, shared;
	int64_t own; /* of shared: what recording itself needs */
};

/* Sampled: there were too many, so from then on there were fewer; or more again. */
struct as_heap_rate {
	int64_t ns;
	uint64_t rate;
};

enum { AS_HEAP_RATES = 1024 }; /* it is at most so often changed */

/* What a site made in one slice of time, and freed in a later one. */
struct as_heap_lasting {
	uint32_t site;
	uint32_t made, until; /* slices, from 0; until 0: it was not freed */
	struct as_heap_amount amount;
};

struct as_heap {
	uint64_t rate;  /* sampled: mean bytes between samples at the end; 0: exact */
	uint64_t asked; /* what it was in the beginning, as asked for               */
	struct as_heap_rate raised[AS_HEAP_RATES];
	size_t nraised;
	uint32_t flags;     /* of enum as_wire_heap_flags                               */
	bool aggregated;    /* sums only: there is no window, and no temporal view     */
	bool whole;         /* false: the writer was killed, this is up to its last block */
	bool full;          /* not whole, for the disk was full                         */
	bool early;         /* not whole, and it ends before anything of the memory     */
	uint64_t temporary; /* threshold of the temporary ones; as_tracker_new()      */
	int64_t start_unix_ns, start_ns, end_ns;
	char *command;

	struct as_heap_totals totals;         /* of all processes; the peak is the combined one */
	double sizes_variance[AS_HEAP_SIZES]; /* of the counts in totals.sizes          */
	struct as_heap_rss at_peak;
	struct as_heap_process *process;
	struct as_heap_who *thread;
	struct as_heap_site *site;
	struct as_heap_point *point; /* in order of time */
	size_t nprocesses, nthreads, nsites, npoints;
	struct as_heap_lasting *lasting; /* as_capture_want.lasting */
	size_t nlasting;
	uint32_t slices;           /* of these                       */
	struct as_profile *stacks; /* the tree; it has no samples */
};

void as_heap_free(struct as_heap *h);

static inline void as_heap_free_(struct as_heap **h)
{
	as_heap_free(*h);
}

#define as_auto_heap as_cleanup(as_heap_free_)

/*
 * Which of the sums a view is of. LEFT is for whoever looks for leaks: without the
 * arenas of CPython, which it keeps. HELD is all that there is, while it runs.
 */
enum as_heap_view { AS_HEAP_PEAK, AS_HEAP_LEFT, AS_HEAP_TEMPORARY, AS_HEAP_MADE, AS_HEAP_HELD };

struct as_heap_amount as_heap_amount(const struct as_heap_sums *s, enum as_heap_view view);
double as_heap_variance(const struct as_heap_sums *s, enum as_heap_view view); /* of the bytes */
/* The count before it is rounded, and its variance: 0 of what is exact. */
double as_heap_number(const struct as_heap_sums *s, enum as_heap_view view);
double as_heap_number_variance(const struct as_heap_sums *s, enum as_heap_view view);
int64_t as_heap_rounded(double number);
/*
 * Of how many were freed: those that were made less those that are left, which weigh the
 * same in both unless they were thinned. Then it is at most this.
 */
double as_heap_frees_variance(const struct as_heap *h, const struct as_heap_sums *of_all);

/* The place of all arenas of CPython: no line's, as they have objects of any line in them. */
#define AS_HEAP_ARENAS       "pymalloc arenas"
#define AS_HEAP_ARENAS_WHERE "<Python's small objects>"

/* Is it in that view? */
bool as_heap_shows(const struct as_heap_site *s, enum as_heap_view view);
/* What all arenas had. */
struct as_heap_sums as_heap_arenas(const struct as_heap *h);

/* "malloc", "mmap", "object calloc" */
const char *as_heap_op_name(uint32_t op);
/* That no process could be recorded, and why: its sums are unknown, not 0. NULL: one was. */
const char *as_heap_nothing(const struct as_heap *h);
/* What as_heap_process.why means, as a sentence of the process; NULL: nothing is wrong. */
const char *as_heap_why(uint32_t why);

/* --- views as profiles (view.c) ------------------------------------------ */

/* What sites are told apart by besides their stack, and what is counted; bits. */
enum as_heap_apart {
	AS_HEAP_PROCESSES = 1 << 0,  /* a tag "process", when there are several          */
	AS_HEAP_THREADS = 1 << 1,    /* a tag "thread"                                   */
	AS_HEAP_ALLOCATORS = 1 << 2, /* a tag "allocator"                                */
	AS_HEAP_TASKS = 1 << 3,      /* a tag "task": the coroutine of the task that ran */
	AS_HEAP_SPREAD = 1 << 4,     /* first the kinds "count variance", and "variance" of
					the bytes, in KiB squared                        */
	AS_HEAP_ALONE = 1 << 5,      /* a process that is the only one has its tag too   */
};

/* A profile with the kinds "allocations" and "bytes", the last, of that view. */
int as_heap_profile(const struct as_heap *h, enum as_heap_view view, unsigned apart,
		    struct as_profile **ret, struct as_err *err);

/* The same in slices of time: what each site had in one (as_capture_want.slice). */
int as_heap_profile_new(unsigned apart, struct as_profile **ret, struct as_err *err);
int as_heap_profile_slice(struct as_profile *p, const struct as_heap *h,
			  const struct as_heap_amount *amount, unsigned apart, uint32_t slice,
			  struct as_err *err);

/*
 * What lasted: of each sample the slice in which it was made and the one in which it
 * was freed, both in one number; arenas are left out, as by AS_HEAP_LEFT.
 */
int as_heap_profile_lasting(const struct as_heap *h, unsigned apart, struct as_profile **ret,
			    struct as_err *err);

enum { AS_HEAP_MADE_SHIFT = 16, AS_HEAP_UNTIL_MASK = 0xffff };

/* --- beside what the system counts (curve.c) ------------------------------ */

/* All processes together, those that the system still knew; -1: unknown. */
struct as_heap_moment {
	int64_t ns;
	int64_t heap, rss, file, mapped; /* as in struct as_heap_point */
};

/* What is memory of the program's own: without files. */
int64_t as_heap_own(const struct as_heap_moment *m);

/*
 * The moments that were looked at, in order of time; of more than `most` only
 * those that stand out among their neighbours. Caller frees *ret.
 */
int as_heap_curve(const struct as_heap *h, size_t most, struct as_heap_moment **ret, size_t *ret_n,
		  struct as_err *err);

/* When RSS was highest. What is -1 is unknown, but `beside` is INT64_MIN then. */
struct as_heap_resident {
	int64_t ns;
	int64_t rss, file, shared; /* these without: */
	int64_t own;               /* what recording itself needs  */
	int64_t heap;              /* at this look or the one before, without mapped files */
	/*
	 * Anonymous memory less the heap: what the allocator keeps or wastes,
	 * stacks, data of the program and its libraries. Below zero: so much of
	 * the heap at least is not resident, as nobody ever touched it.
	 */
	int64_t beside;
};

int as_heap_resident(const struct as_heap *h, struct as_heap_resident *ret, struct as_err *err);
/* The highest RSS of one process that was seen; -1: unknown. */
int64_t as_heap_process_rss(const struct as_heap *h, uint32_t process);

/* --- sums of many sites (sums.c) ----------------------------------------- */

enum { AS_HEAP_OPS = 64 };

struct as_heap_parts {
	struct as_heap_sums all;
	struct as_heap_sums *thread;         /* of each of h->thread            */
	struct as_heap_sums *process;        /* of each of h->process           */
	struct as_heap_sums op[AS_HEAP_OPS]; /* of each of enum as_wire_op      */
	struct as_heap_sums *task;           /* none when no coroutine ever ran  */
	uint32_t *coroutine;                 /* of each task; 0: of no task      */
	size_t ntasks;
};

int as_heap_parts(const struct as_heap *h, struct as_heap_parts *ret, struct as_err *err);
/* Are there mapped files in the peak? */
bool as_heap_maps_files(const struct as_heap_parts *p);
/* About the variance of so many bytes of theirs, held at a moment whose own is not kept. */
double as_heap_about(const struct as_heap_sums *of, int64_t bytes);
void as_heap_parts_done(struct as_heap_parts *p);

/*
 * For each stack a place of the task that ran: of the outermost coroutine in it,
 * which is what an event loop was given to run. Tasks of one coroutine are one,
 * and who runs none (a callback, a thread of an executor) has 0. NULL for want
 * of memory; caller frees.
 */
uint32_t *as_heap_tasks(const struct as_profile *p);
/* "answer (app.py:20)", where it is defined; cut to `room`. */
void as_heap_task_name(const struct as_profile *p, uint32_t place, char *to, size_t room);

/*
 * For each stack the place that its memory is put down to: the innermost line
 * of Python; without Python the innermost whose line is known, those of libc
 * and other packages left out; else the innermost of all. So the allocator, the
 * interpreter and libraries without names are not the owners of everything.
 * NULL for want of memory; caller frees.
 */
uint32_t *as_heap_owners(const struct as_profile *p);

/* What stacks of one owner had. */
struct as_heap_line {
	uint32_t place; /* of h->stacks; 0: no stack is known */
	struct as_heap_amount amount;
	double variance;                /* of the bytes */
	double number, number_variance; /* the count before it is rounded */
};

enum as_heap_order { AS_HEAP_BY_BYTES, AS_HEAP_BY_COUNT };

/* All that have anything, the most first. Caller frees *ret. */
int as_heap_lines(const struct as_heap *h, enum as_heap_view view, enum as_heap_order order,
		  struct as_heap_line **ret, size_t *ret_n, struct as_err *err);
