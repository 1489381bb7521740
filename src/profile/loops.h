#pragma once
/*
 * loops -- how long event loops were held, and by what.
 *
 * A loop is a thread that waits for events in epoll, poll or select. Between
 * two waits it is busy: whatever else it ought to serve waits meanwhile. Each
 * busy period is counted in a histogram; one that lasts as long as a threshold
 * is a block and is kept, with its cause and the stack that held the loop.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "stat/histogram.h"

enum as_loop_cause {
	AS_LOOP_CPU,   /* it computed                                          */
	AS_LOOP_READY, /* it would have, but others had the CPUs               */
	AS_LOOP_CALL,  /* it waited in a system call, or for a page            */
	AS_LOOP_LOCK,  /* it waited for a lock                                 */
	AS_LOOP_GIL,   /* it waited for Python's global lock                   */
	AS_LOOP_CAUSES,
};

enum { AS_HOLDERS_MOST = 3 };

/* What held a loop for a good part of a block. */
struct as_loop_holder {
	uint32_t stack;
	uint32_t task; /* a text of the profile; 0: unknown                    */
	int64_t ns;
	enum as_loop_cause cause;
	const char *call; /* that it waited in, if it did; a constant          */
};

struct as_loop_block {
	int64_t start_ns; /* CLOCK_MONOTONIC                                   */
	int64_t duration_ns;
	int64_t cpu_ns, ready_ns; /* of it; -1: unknown                        */
	int32_t tid;
	enum as_loop_cause cause;
	const char *call; /* the system call that took most, if any; a constant */
	uint32_t stack;   /* of the profile; 0: none was seen                   */
	uint32_t looks;   /* at its stack                                       */
	uint32_t task;    /* a text of the profile; 0: unknown                  */
	bool ongoing;     /* it lasted still when the watch ended               */
	struct as_loop_holder holder[AS_HOLDERS_MOST]; /* the longest first     */
	size_t nholders;
};

struct as_loop {
	int32_t tid;
	char name[16];
	const char *wait;   /* "epoll_wait": how it waits, as last seen; a constant */
	int64_t watched_ns; /* since it was seen first                          */
	int64_t busy_ns;    /* of that                                          */
	uint64_t over;      /* periods of the threshold and more                */
	uint64_t locked;    /* periods that were mostly a wait for a lock, not the GIL */
	int64_t locked_ns;  /* how long those were, as far as they were seen    */
	struct as_histogram busy;
};

enum { AS_LOOPS_MOST = 64, AS_LOOP_BLOCKS_MOST = 20000 };

struct as_loops {
	int64_t start_ns, duration_ns, threshold_ns;
	bool exact;                          /* told by the kernel, not probed                */
	int64_t resolution_ns;               /* 0: exact                                      */
	struct as_loop *loop[AS_LOOPS_MOST]; /* as_loops_settle(): the busiest first */
	size_t n;
	struct as_loop_block *block; /* as they ended                           */
	size_t nblocks, blocks_cap;
	uint64_t unlisted;          /* blocks beyond the limit                           */
	int32_t held_tid;           /* the first thread, if it is no loop but computed …     */
	int64_t held_ns;            /* … or would have for so long, half of the time; else 0 */
	bool starved;               /* memory ran out: something is missing              */
	struct as_profile *profile; /* its `taking`: looks at stacks; none can be late */
	struct as_err blind;        /* why there are no stacks; code 0: there are      */
};

int as_loops_init(struct as_loops *l, struct as_err *err);
void as_loops_done(struct as_loops *l);
/* The loop of this thread, made if it is new; NULL: no memory, or one too many. */
struct as_loop *as_loops_of(struct as_loops *l, int32_t tid);
/* Keep a block, if there is room. */
void as_loops_keep(struct as_loops *l, const struct as_loop_block *b);
/* Its period was this long; count it, and if it is a block, keep it. */
void as_loops_add(struct as_loops *l, struct as_loop *of, const struct as_loop_block *b);
/* At the end: leave out who was no loop after all, and put the busiest first. */
void as_loops_settle(struct as_loops *l);
/* "cpu", "ready", "syscall", "lock", "gil" */
const char *as_loop_cause_name(enum as_loop_cause c);

/* ── which stack held it ─────────────────────────────────────────────── */

enum { AS_VOTES_MOST = 48 };

/* A stack, what it did there, and for how long: each look stands for the time around it. */
struct as_vote {
	uint32_t stack;
	uint32_t task; /* a text of the profile; 0: unknown */
	int64_t ns;
	enum as_loop_cause cause; /* CPU, CALL, LOCK or GIL            */
	const char *call;         /* a constant; NULL: it was in none  */
};

/* What was seen during one period. */
struct as_votes {
	struct as_vote at[AS_VOTES_MOST];
	size_t n;
	uint32_t looks;
	int64_t ns;      /* that all looks stand for                        */
	int64_t seen_ns; /* the last look; at first when the period began   */
	struct as_vote last;
};

bool as_votes_has(const struct as_votes *v, uint32_t stack);
/* One look: half of the time since the last is that one's. The task counts if the stack is new. */
void as_votes_add(struct as_votes *v, struct as_vote seen, int64_t now);
/* The period is over: the rest is the last look's. */
void as_votes_end(struct as_votes *v, int64_t end);
/*
 * The deepest stack that it was on for more than half of the time, and the task of most of
 * that; all 0: there is none.
 */
struct as_vote as_votes_winner(const struct as_votes *v, const struct as_profile *p);
/*
 * Of a block whose duration, counts and cause are known: the stack that held it, the cause by
 * the looks at that very stack (unless it is nearly all of the block, as then the counts know
 * better), and whoever had a good part of it.
 */
void as_loop_blame(struct as_loop_block *b, const struct as_votes *v, const struct as_profile *p);
