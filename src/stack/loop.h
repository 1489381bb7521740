#pragma once
/*
 * loop -- watches the event loops of a process from outside: nothing in it is
 * stopped, slowed or changed.
 *
 * Where the kernel lets us load programs, it tells every wait (loopexact.h).
 * Elsewhere every thread is looked at now and then; one that was seen to wait
 * in epoll, poll or select is a loop and is looked at every 4 ms (a third of
 * the threshold, if that is less), while it is busy twice as often, and in a
 * long block more and more seldom. Of one that has been busy for two looks the
 * Python stack is read at each further look, and the stack that it was on for
 * most of the time is what held the loop.
 */
#include "stack/loopexact.h"
#include "stack/loopstack.h"
#include "stack/loopthread.h"

struct as_loop_watch {
	const struct as_env *env;
	pid_t pid;
	struct as_loops *to;
	struct as_loop_thread **thread;
	size_t n, cap;
	struct as_loop_stacks stacks;
	struct as_loop_exact exact; /* if the kernel tells                    */
	int64_t step_ns;            /* between two looks at a loop that waits   */
	int64_t list_ns;            /* when to see which threads there are      */
	int64_t first_ns;           /* how long the first thread was ready, at the beginning */
	struct as_histogram gaps;   /* between two looks, as they really were   */
};

/* `to`, made by as_loops_init() and given a threshold, must outlive it. */
int as_loop_open(struct as_loop_watch *w, const struct as_env *env, pid_t pid, struct as_loops *to,
		 struct as_err *err);
/* Look at whoever is due; when to look next. */
int64_t as_loop_look(struct as_loop_watch *w, int64_t now);
/* Put down what is still open. */
void as_loop_finish(struct as_loop_watch *w, int64_t now);
void as_loop_close(struct as_loop_watch *w);
