#pragma once
/*
 * microstop -- something done while one thread of another process stands still.
 *
 * The thread is interrupted (PTRACE_SEIZE, PTRACE_INTERRUPT), not signalled,
 * and goes on as soon as the work is done, some 10 microseconds later. All of
 * it happens on a thread of our own that ends with it: should the other not
 * stop in time, or should we be killed in the middle, the kernel itself lets
 * it go, since nobody is left who holds it.
 *
 * If it is a child of ours, whoever waits for children is told of the stop as
 * well (CLD_TRAPPED) and must not take it for an end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* False: it could not be stopped, nothing was done. *ns grows by how long it stood at most. */
bool as_microstop(pid_t tid, void (*work)(void *arg), void *arg, int64_t *ns);
