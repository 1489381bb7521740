#pragma once
/*
 * collector -- one source of numbers: a file ending in one const table.
 *
 * A collector keeps its state in memory the engine hands it, reads the world
 * only through the env, and never prints, exits, sleeps, or knows what a store
 * is. It fills rows of the tick's frame (run/frame.h) and leaves unknown what
 * it does not know. Failing to read is not failing: a source that is missing
 * or forbidden says so in an origin (AS_UNAVAILABLE and why) and goes quiet.
 *
 * To add one: copy system.c, change every line, list it in registry.c.
 */
#include <sys/resource.h>

#include "os/cgroup.h"
#include "os/env.h"
#include "run/sink.h"

struct as_members;

/* What the collectors of a run share; read-only to them. */
struct as_collect {
	const struct as_env *env;
	const struct as_want *want;
	struct as_tee *sink;            /* for origins and instances             */
	const struct as_cgroup *cgroup; /* the job's group; NULL when it has none */
	int64_t start_ns;               /* CLOCK_MONOTONIC of the run's start    */
	char *const *argv;              /* the command; NULL: attached to another's  */
	int32_t root;                   /* first process of the job; 0 before it starts */
	bool children;                  /* does the job include its descendants  */
	bool attached;                  /* it was running before we came         */
	bool empty;                     /* no process of it is there: not yet, or no more */
	const struct as_members *
		*members; /* the processes as the tree, which sets it, knows them */
	int32_t helper;   /* a thread of ours that reads, beside the engine's; 0: none */
	int64_t grown;    /* our own largest resident size when the command was made; 0: before */
	int clock;        /* of all the job's CPU time (os/jobclock.h); 0: none */
	bool *starved;    /* set it when memory ran out and something is missing */
	int64_t *ended;   /* set it to when `root` ended, as the kernel says; NULL: nobody asks */
};

/* The end of a process that came to us as its parent or as subreaper. */
struct as_exit {
	int32_t pid;
	int32_t status;      /* wait status                                  */
	int64_t t_ns;        /* since the run's start                        */
	struct rusage usage; /* its own and that of the children it reaped   */
};

enum as_news { AS_NO_NEWS, AS_NEWS_OF_OTHERS, AS_NEWS };

struct as_collector {
	const char *name;  /* stable: --metrics cost table, docs         */
	const char *about; /* one line                                   */
	const char *reads; /* the files it opens, for the manual         */
	size_t state_size;
	/* Does any wanted field need this source? */
	bool (*wanted)(const struct as_want *want);
	/*
	 * Acquire, and take the baseline that makes counters start at 0. `st` is
	 * zeroed. Called before the command starts. close() follows even a failure.
	 */
	int (*open)(void *st, const struct as_collect *c, struct as_err *err);
	/* Add rows to the frame. Must not block. */
	int (*sample)(void *st, const struct as_collect *c, struct as_frame *frame,
		      struct as_err *err);
	/*
	 * A descriptor that polls readable when the source has something to say
	 * between two samples, or -1. It may change at any call. May be NULL.
	 */
	int (*fd)(const void *st);
	/*
	 * Take in what it says, now: when it is readable, but not for each word of
	 * it, and before the last sample (`last`: wait a moment for what is on its
	 * way). What it said decides how soon it is asked again. May be NULL.
	 */
	enum as_news (*ready)(void *st, const struct as_collect *c, bool last);
	/*
	 * A process that we are the parent of has ended and is still a zombie: the
	 * last chance to read it. May be NULL.
	 */
	void (*exited)(void *st, const struct as_collect *c, const struct as_exit *e);
	/*
	 * The job has ended: set the totals that this source knows better than the
	 * collectors before it in the registry. May be NULL.
	 */
	void (*finish)(void *st, const struct as_collect *c, struct as_total *totals);
	/*
	 * Send a signal (0: none) to every process of the job; how many there are.
	 * Only the tree knows them; else NULL.
	 */
	int (*signal)(void *st, const struct as_collect *c, int sig);
	/* Release. Accepts a half-open state. May be NULL. */
	void (*close)(void *st);
};

extern const struct as_collector *const as_collectors[]; /* NULL-ended */

/* Tell the sinks where a wanted field comes from, or why it does not come. */
__attribute__((format(printf, 4, 5))) void as_collect_origin(const struct as_collect *c,
							     enum as_field_id f,
							     enum as_provenance how,
							     const char *fmt, ...);
/* The same for all wanted fields of a group within a scope. */
__attribute__((format(printf, 5, 6))) void
as_collect_origins(const struct as_collect *c, enum as_scope scope, enum as_group group,
		   enum as_provenance how, const char *fmt, ...);
__attribute__((format(printf, 5, 6))) void as_total_set(struct as_total *totals,
							enum as_total_id id, int64_t value,
							enum as_provenance how, const char *fmt,
							...);
