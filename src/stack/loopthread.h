#pragma once
/*
 * loopthread -- one thread, looked at again and again: does it wait for
 * events, or is its loop busy?
 *
 * A look is a read of /proc/PID/task/TID/syscall, kept open. Between a look
 * that finds it waiting and one that finds it busy lies the beginning of a busy
 * period; it is put in the middle, and its end likewise, so a period is known
 * to about the time between two looks.
 *
 * A wait may also fit between two looks, and two periods would look like one.
 * The kernel counts how often a thread gave up its CPU by itself: when that
 * moved between two looks that both found it running, in a period in which it
 * was never seen in a call that blocks, it has waited, and a new period began.
 * What is too short to be seen is known in sum: as many periods as the thread
 * gave up its CPU, and as much CPU time as it used. A period in which it never
 * gave up its CPU lasted as long as it ran and was ready: that is known exactly,
 * even if no look has met it.
 */
#include <sys/types.h>

#include "os/call.h"
#include "os/env.h"
#include "os/proc.h"
#include "profile/loops.h"

enum { AS_LOOP_CALLS = 8 };

/* What was seen of the period that goes on. */
struct as_loop_period {
	int64_t start_ns;
	int64_t before_ns; /* the last look that found it waiting …       */
	int64_t first_ns;  /* … and the first that found it busy          */
	uint32_t looks;
	uint32_t locked, gil; /* asked what lock it waits for; it was the GIL */
	struct {
		int32_t nr;
		uint32_t n;
	} call[AS_LOOP_CALLS]; /* that it was in, and how often */
	size_t ncalls;
	struct as_proc_sched begin; /* its counters before it                   */
	bool whole;                 /* … when it waited, so nothing is missing  */
	int64_t yields_begin, yields;
	int64_t stack_slices; /* as counted when its stack was seen; -1: it ran then */
	struct as_votes votes;
};

struct as_loop_thread {
	pid_t tid;
	int call, sched, status; /* files of /proc, kept open; -1: not (yet)      */
	bool epolls;             /* its loop waits in epoll; poll would block it  */
	bool runs;               /* at the last look                              */
	enum { AS_LOOP_UNSEEN, AS_LOOP_WAITS, AS_LOOP_BUSY } state;
	int64_t seen_ns, due_ns;   /* last look, next look                          */
	int64_t stack_ns;          /* next look at its stack                        */
	struct as_proc_sched idle; /* its counters when it was last seen to wait  */
	int64_t idle_ns;           /* … and when that was                         */
	struct as_proc_sched last; /* its counters at the last look               */
	struct as_loop *to;        /* NULL: it was never seen to wait               */
	struct as_loop_period now;

	/* From when it was first seen to wait until it was last counted … */
	int64_t first_ns, first_run, first_yields;
	int64_t counted_ns, last_run, last_yields;
	/* … and what of that is in periods that were seen. */
	int64_t seen_run, seen_yields;
};

/* "read"; a constant, whatever the number is. */
const char *as_loop_call_name(int32_t nr);
void as_loop_read_name(struct as_loop *l, const struct as_env *env, pid_t pid);
/* Does a thread that is in this call wait for events? `epolls`: does its loop use epoll. */
bool as_loop_waits(const struct as_call *c, bool *epolls);

/* False: it cannot be looked at; errno says why. */
bool as_loop_thread_open(struct as_loop_thread *t, const struct as_env *env, pid_t pid, pid_t tid);
void as_loop_thread_close(struct as_loop_thread *t);

/* What it is in at this moment; false: it has ended. */
bool as_loop_thread_call(const struct as_loop_thread *t, struct as_call *ret);

/* Where its periods go; `step_ns` is the time that looks are meant to be apart. */
struct as_loop_look {
	const struct as_env *env;
	pid_t pid;
	struct as_loops *to;
	int64_t now, step_ns;
};

/* False: it has ended. *ret_call is what it was in. */
bool as_loop_thread_look(struct as_loop_thread *t, const struct as_loop_look *l,
			 struct as_call *ret_call);
/* The last look was the last: what went on is cut off, and what was not seen is added. */
void as_loop_thread_finish(struct as_loop_thread *t, const struct as_loop_look *l);
