#pragma once
/*
 * loopstack -- the Python stack of a thread that holds its loop, if it is a
 * Python at all.
 *
 * A program that has just been started becomes one; one that is none is asked
 * again, more and more seldom.
 */
#include "stack/code.h"
#include "stack/threads.h"

struct as_loop_stacks {
	const struct as_env *env;
	pid_t pid;
	struct as_profile *to;
	bool found;
	struct as_python py;
	struct as_pythreads threads;
	struct as_codes codes;
	struct as_pystack *stack;    /* the one that is being read             */
	struct as_snap_count count;  /* of nobody's interest                   */
	int64_t seek_ns, seek_pause; /* when to look for Python again          */
	int64_t check_ns;            /* when to see whether its code is the same */
	struct as_err why;           /* that it was not found                  */
};

int as_loop_stacks_open(struct as_loop_stacks *s, const struct as_env *env, pid_t pid,
			struct as_profile *to, struct as_err *err);
void as_loop_stacks_close(struct as_loop_stacks *s);
/* Is it (still) a Python? */
bool as_loop_stacks_ready(struct as_loop_stacks *s, int64_t now);
/* What thread `tid` is in; 0: nothing that can be told. */
uint32_t as_loop_stack(struct as_loop_stacks *s, pid_t tid, int64_t now);
/* Does this thread, which waits for a lock, wait for the GIL? */
bool as_loop_wants_gil(struct as_loop_stacks *s, pid_t tid);
