#pragma once
/*
 * threads -- the Python threads of a process, kept from look to look.
 *
 * Python keeps them in a list for each interpreter; the kernel knows each by
 * its number, and how long it has been on a CPU.
 */
#include "os/env.h"
#include "os/proc.h"
#include "stack/code.h"
#include "stack/crowd.h"
#include "stack/cstacks.h"
#include "stack/tids.h"

enum { AS_PYTHREADS_MOST = 16384 };

struct as_pythread {
	struct as_snapper snap; /* snap.thread is who it is, with tid           */
	uint64_t interp;
	pid_t tid;
	char name[16];              /* the kernel's                                      */
	uint64_t ident;             /* pthread_self(); 0: not read yet                   */
	uint32_t called;            /* Python's name, a text of a profile; 0: unknown    */
	uint32_t renamed;           /* so often                                          */
	int sched, call;            /* its schedstat and syscall, kept open; -1: refused */
	int64_t asked_ns;           /* when it was last asked; CLOCK_MONOTONIC           */
	struct as_proc_sched was;   /* then                                              */
	int64_t clock_ns;           /* its process's clock, when that was asked; 0: not  */
	int64_t told_ns;            /* by that clock, since `was`                        */
	bool runs;                  /* likewise: on a CPU, or ready for one              */
	struct as_crowd crowd;      /* does it find CPUs                                 */
	int64_t owed_ns;            /* CPU time that is in no sample yet                 */
	uint32_t tags;              /* of its samples                                    */
	uint32_t stack;             /* that it had when last seen, if `known`            */
	struct as_code_trail trail; /* to that stack                                     */
	uint32_t ran_stack;         /* that it had when last seen running, with ran_tags */
	uint32_t ran_tags;
	bool known;
	bool listed;  /* still in Python's list */
	bool bare;    /* it had no Python frame when listed */
	size_t rank;  /* in that list: those of newer interpreters come first */
	bool told;    /* its stack was seen at the last look                  */
	bool staffed; /* it had a stack when that was last read              */
	bool fresh;   /* it was not looked at yet                             */
};

struct as_pythreads {
	const struct as_env *env;
	const struct as_python *py;
	struct as_pythread **at;
	size_t n, cap;
	size_t interps, ranks; /* that have been listed: interpreters, and threads */
	size_t unborn;         /* that are in the list and have not begun yet      */
	size_t hopes;          /* lists in a row that had such, and nobody newer   */
	struct as_tids tids;
	struct as_cstacks cstacks; /* with several interpreters, 3.10 to 3.12; else empty   */
	bool surveys;              /* they are being learned                                */
	uint32_t tid_at; /* before 3.11: where in its struct pthread a thread's number is; 0: ? */
	uint64_t interp; /* the first interpreter                                             */
	uint64_t head;   /* of its list; changes when a thread begins                         */
};

void as_pythreads_init(struct as_pythreads *t, const struct as_env *env,
		       const struct as_python *py);
void as_pythreads_done(struct as_pythreads *t);
/* See who is new and who has ended. False: Python's list cannot be read, or no memory. */
bool as_pythreads_refresh(struct as_pythreads *t);
/* Two words that are others when a thread has begun, if there is one interpreter. */
struct as_pyheads {
	uint64_t interp, head;
	struct as_snap_also also; /* … to be read by whoever reads anyway */
};

void as_pyheads_init(struct as_pyheads *h, const struct as_pythreads *t);
/*
 * Has no thread begun since, and is there none that has yet to? They are read
 * now if nobody has. False also when that fails, and where there are several
 * interpreters: each has its list, and a state may pass from thread to thread.
 */
bool as_pythreads_same(const struct as_pythreads *t, struct as_pyheads *h);
/*
 * A thread that calls into another interpreter has a state in both, and one
 * stack at a time: the newer one's, as long as there is one.
 */
bool as_pythreads_elsewhere(const struct as_pythreads *t, size_t i);

/* What a thread did since it was last asked. */
struct as_pydeed {
	int64_t used_ns; /* of a CPU; a running one tells it by clock ticks, so later     */
	bool changed;    /* the kernel counted something of it                            */
	bool moved;      /* it was on a CPU: its stack may be another                     */
	bool runs;       /* it is on a CPU or ready for one, not waiting, at this moment  */
};

/* False: it has ended. */
bool as_pythread_ask(struct as_pythread *t, struct as_pydeed *ret);
/* What it has used since it was asked so, by its own count. */
bool as_pythread_count(struct as_pythread *t, int64_t *ret_used_ns);
/* Of one that runs, as far as is known: does it show where it uses its time (stack/crowd.h)? */
bool as_pythread_shows(const struct as_pythreads *of, struct as_pythread *t);
/* Is it on a CPU or ready for one at this moment, and not waiting in the kernel? */
bool as_pythread_runs(const struct as_pythread *t);
/* The threads that hold a GIL, of each interpreter one at the most; returns how many. */
size_t as_pythreads_holders(const struct as_pythreads *t, uint64_t *holder, size_t max);
