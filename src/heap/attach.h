#pragma once
/*
 * attach -- a guest is brought into a process that runs.
 *
 * A thread of it is borrowed at a moment that is good for it: asleep in a call
 * that is for waiting, or busy in the program's own code, and never inside of
 * libc, the loader, an allocator or a signal's handler, where it may hold a
 * lock that it would wait for. If there is no such moment for a while, that is
 * said and nothing was done.
 *
 * A CPython from 3.14 on is asked first (ask.h): then no thread is borrowed. One
 * that does not come to it soon, as it sleeps, is treated like any other; one
 * that was started with that switched off is left alone.
 */
#include <stdbool.h>

#include "heap/target.h"

struct as_attached {
	pid_t pid, tid;     /* tid: that was borrowed                  */
	bool asked;         /* none was borrowed: its Python did it    */
	pid_t visitor;      /* the guest's own thread; 0: not known    */
	int64_t stopped_ns; /* it stood still, in all                  */
	int stops;          /* of threads, until a moment was good     */
};

/* What would be refused is, before anything is begun for it. */
int as_attach_may(const struct as_env *env, pid_t pid, struct as_err *err);
/* `door` is the path of the collector's socket. The guest records when this returns. */
int as_attach(const struct as_env *env, pid_t pid, const char *door, struct as_attached *ret,
	      struct as_err *err);
/* The guest's thread is there yet: the process is not what it was. */
bool as_attach_stays(const struct as_env *env, const struct as_attached *a);
