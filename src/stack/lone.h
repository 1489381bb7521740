#pragma once
/*
 * lone -- a Python thread that is the only thread of its process, asked by the
 * process's clock.
 *
 * That is one call without a file, a fraction of what it costs to read its
 * schedstat, and as that it goes on by the kernel's ticks. Whether it is the only
 * one is found out whenever threads are listed. As another may begin any time, its own
 * count is read now and then, too: if others have used some, what was told too
 * much is taken back. Who is not alone any more is asked like any other for good.
 */
#include "stack/threads.h"

struct as_lone {
	clockid_t clock;   /* of the process                                 */
	bool is;           /* there is one: it is asked by that              */
	bool over;         /* there was                                      */
	int64_t settle_ns; /* its own count is read again; CLOCK_MONOTONIC   */
};

/* The threads have just been listed. */
void as_lone_count(struct as_lone *l, const struct as_pythreads *t);
/* Another one has come. */
void as_lone_end(struct as_lone *l);
/* What as_pythread_ask() tells. `used_ns` is negative when too much was told before. */
bool as_lone_ask(struct as_lone *l, struct as_pythread *t, int64_t now, struct as_pydeed *ret);
