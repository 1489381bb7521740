#pragma once
/*
 * loops -- a thread of our own that watches the event loops of a process.
 */
#include "stack/loop.h"

struct as_looper; /* at work */

/* Begin to watch process `pid`; what is seen goes to `to`, which is its until it is finished. */
int as_looper_start(struct as_looper **ret, const struct as_env *env, pid_t pid,
		    struct as_loops *to, struct as_err *err);
/* Stop, and put down what is still open. NULL is nothing to stop. */
void as_looper_finish(struct as_looper *l);
