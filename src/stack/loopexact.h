#pragma once
/*
 * loopexact -- event loops as the kernel tells of them (os/loopwatch.h): every
 * wait is known, so periods and their causes are exact.
 *
 * What is left to do here is to look at the stack of whoever has been busy for
 * a while; that costs a look at memory that the kernel writes, no system call.
 */
#include "os/loopwatch.h"
#include "profile/loops.h"
#include "stack/loopstack.h"

/* What was seen of the period that goes on. */
struct as_loop_sight {
	uint64_t since;       /* which one */
	int64_t stack_ns;     /* when to look at its stack again                     */
	uint64_t out;         /* when it had left the CPU, at the last look; 0: it had it */
	uint32_t locked, gil; /* looks that found it waiting for a lock; for the GIL */
	struct as_votes votes;
};

struct as_loop_exact {
	const struct as_env *env;
	struct as_loops *to;
	struct as_loop_stacks *stacks;
	struct as_loopwatch *watch; /* NULL: the kernel does not tell */
	int64_t step_ns;
	size_t met; /* loops that are known by name */
	struct as_loop_sight sight[AS_WIRE_LOOPS];
};

int as_loop_exact_open(struct as_loop_exact *x, const struct as_env *env, pid_t pid,
		       struct as_loops *to, struct as_loop_stacks *stacks, struct as_err *err);
void as_loop_exact_close(struct as_loop_exact *x);
/* When to look next. */
int64_t as_loop_exact_look(struct as_loop_exact *x, int64_t now);
/*
 * One place of a thread, as the kernel left it. It may have two: one that it took by itself
 * when it came to wait, and, at the same moment, one that it was given because it waited.
 */
void as_loop_exact_add(struct as_loop *to, const struct as_wire_loop *w, int64_t watched_ns);
void as_loop_exact_finish(struct as_loop_exact *x, int64_t now);
