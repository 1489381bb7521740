#pragma once
/*
 * loopstack -- the Python stack of a thread that holds its loop, and the asyncio
 * task that it runs, if it is a Python at all.
 *
 * A program that has just been started becomes one; one that is none is asked
 * again, more and more seldom.
 */
#include "profile/loops.h"
#include "stack/code.h"
#include "stack/tasks.h"
#include "stack/threads.h"

struct as_loop_stacks {
	const struct as_env *env;
	pid_t pid;
	struct as_profile *to;
	bool found;
	struct as_python py;
	struct as_pythreads threads;
	struct as_codes codes;
	bool objects; /* those of this version can be read */
	struct as_pyreader reader;
	struct as_pyasyncio asyncio; /* of the interpreter that was asked for last */
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
/* What thread `tid` does: it runs, or it waits in this call (-1: in none, as for a page). */
struct as_vote as_loop_deed(struct as_loop_stacks *s, pid_t tid, bool runs, int32_t call);
/* Look at the stack of one that does so; `same`: it has not run since the last vote. */
void as_loop_vote(struct as_loop_stacks *s, pid_t tid, struct as_votes *v, struct as_vote deed,
		  bool same, int64_t now);
