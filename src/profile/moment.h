#pragma once
/*
 * moment -- what the threads and tasks of a program were doing at one moment.
 *
 * Names and places are those of a profile that it owns, so whatever spells
 * places for profiles spells them here. Frames are in the order of calls, the
 * root first. What could not be known is said to be unknown: a text of 0, a
 * state of its own.
 */
#include "profile/profile.h"

enum as_doing {
	AS_DOING_UNKNOWN,
	AS_DOING_RUNS,    /* on a CPU, or ready for one                          */
	AS_DOING_WANTS,   /* waits for the GIL                                   */
	AS_DOING_CALL,    /* waits in a system call for what it does there       */
	AS_DOING_IDLE,    /* waits in a system call for something to do          */
	AS_DOING_STOPPED, /* by a signal or a debugger                           */
};

/* Has a thread the GIL? */
enum as_gil {
	AS_GIL_NOT,
	AS_GIL_HOLDS,
	AS_GIL_PERHAPS, /* it went from one to another while we looked, again and again */
};

/* How much of a stack there is. */
enum as_seen {
	AS_SEEN_WHOLE,
	AS_SEEN_CUT,     /* its roots are missing: it is too deep                */
	AS_SEEN_NONE,    /* no Python frame: it begins, ends, or never was in it */
	AS_SEEN_CHANGED, /* it changed under our eyes, again and again           */
};

/* A variable: texts, the value as Python would show it, shortened. */
struct as_moment_local {
	uint32_t name, value;
};

struct as_moment_frame {
	uint32_t place;
	bool changed; /* its variables changed while they were read: there are none */
	struct as_moment_local *local;
	size_t nlocals;
};

struct as_moment_stack {
	enum as_seen seen;
	struct as_moment_frame *frame; /* the root first */
	size_t n;
};

struct as_moment_thread {
	int32_t tid;
	uint32_t name; /* text; 0: unknown */
	enum as_doing doing;
	enum as_gil gil;
	uint32_t call; /* text: the system call that it waits in, or 0 */
	bool known;    /* by Python's own `threading`, which says …    */
	bool daemon;   /* … whether the program waits for its end      */
	struct as_moment_stack stack;
};

enum as_task_doing {
	AS_TASK_RUNS,
	AS_TASK_AWAITS,
	AS_TASK_READY,   /* what it awaited is there: its loop will come to it */
	AS_TASK_CREATED, /* has not begun                                      */
};

/* A task of asyncio. */
struct as_moment_task {
	uint32_t name; /* text; 0: unknown */
	enum as_task_doing doing;
	int32_t tid;    /* of the thread that runs it; 0: none does          */
	uint32_t what;  /* text: the type of what it awaits; 0: nothing      */
	size_t *awaits; /* the tasks that must end before it can go on       */
	size_t nawaits, awaits_cap;
	int64_t ran_ns, awaited_ns;   /* while it was watched; -1: it was not */
	struct as_moment_stack stack; /* of its coroutines, the outermost first */
};

struct as_moment {
	struct as_profile *names;
	int32_t pid;
	uint32_t version; /* of its Python, as PY_VERSION_HEX; the low half 0: only 3.x is known */
	uint32_t command; /* text: the words of its command line; 0: unknown */
	int64_t taken_unix_ns;
	struct as_moment_thread *thread;
	size_t nthreads, threads_cap;
	struct as_moment_task *task; /* in the order of their names */
	size_t ntasks;
	int64_t watched_ns; /* for so long the tasks were watched before; 0: they were not */
	bool locals, tasks; /* were asked for */
};

struct as_moment *as_moment_new(struct as_err *err);
void as_moment_free(struct as_moment *m);
void as_moment_stack_done(struct as_moment_stack *s);

static inline void as_moment_free_(struct as_moment **m)
{
	as_moment_free(*m);
}

#define as_auto_moment as_cleanup(as_moment_free_)
