#pragma once
/*
 * tasks -- the asyncio tasks of another process, one by one.
 *
 * A task knows the future that it awaits; who completes that
 * future is told by the callbacks of the others: what gather(), wait(),
 * shield(), wait_for() and TaskGroup leave behind for the end of a task holds
 * the future that they complete.
 */
#include "base/buf.h"
#include "stack/pyasyncio.h"
#include "stack/pycoro.h"

enum { AS_PYTASK_WAKES = 16 };

struct as_pytask {
	uint64_t at;
	uint64_t coro;
	uint64_t waiter;    /* the future that it awaits; 0: it runs, or is about to */
	uint64_t name;      /* a str, or a number                                    */
	uint64_t callback;  /* for its end: the first …                              */
	uint64_t callbacks; /* … and the list of the others                         */
};

/* False: it is none, or none that is pending. */
bool as_pytask_read(struct as_pyreader *r, uint64_t at, struct as_pytask *ret);
/* Appends it. */
bool as_pytask_name(struct as_pyreader *r, const struct as_pytask *t, struct as_buf *out);
/* The futures that its end completes, and those that they complete in turn; how many. */
size_t as_pytask_wakes(struct as_pyreader *r, const struct as_pytask *t,
		       uint64_t future[AS_PYTASK_WAKES]);
/* Is its coroutine's frame in this stack, so many frames from the root? */
bool as_pytask_in(struct as_pyreader *r, const struct as_pytask *t, const struct as_pystack *s,
		  size_t *ret_depth);
/*
 * The task, of those that run now, to which the stack of a thread belongs: its
 * coroutine's frame is in it, so many frames from the root.
 */
bool as_pytask_of(struct as_pyreader *r, const struct as_pyasyncio *a, uint64_t thread,
		  const struct as_pystack *s, struct as_pytask *ret, size_t *ret_depth);
