#pragma once
/*
 * tasks -- the asyncio tasks of another process.
 *
 * asyncio keeps all of them in sets of its own, and those that run now by
 * their loop. A task knows the future that it awaits; who completes that
 * future is told by the callbacks of the others: what gather(), wait(),
 * shield(), wait_for() and TaskGroup leave behind for the end of a task holds
 * the future that they complete.
 */
#include "base/buf.h"
#include "stack/pycoro.h"
#include "stack/pymodule.h"

enum { AS_PYTASKS_MOST = 1 << 16, AS_PYTASK_WAKES = 16 };

struct as_pytask {
	uint64_t at;
	uint64_t coro;
	uint64_t waiter;    /* the future that it awaits; 0: it runs, or is about to */
	uint64_t name;      /* a str, or a number                                    */
	uint64_t callback;  /* for its end: the first …                              */
	uint64_t callbacks; /* … and the list of the others                         */
};

struct as_pytask_list {
	uint64_t *at;
	size_t n, cap;
};

/* What asyncio has of an interpreter's tasks; 0: no such thing, or no asyncio. */
struct as_pyasyncio {
	uint64_t interp;
	uint64_t all, scheduled; /* WeakSets: until 3.11, from 3.12                      */
	uint64_t eager;          /* a set                                                */
	uint64_t current;        /* a dict of those that run now, by their loops         */
};

void as_pyasyncio_find(struct as_pyreader *r, uint64_t interp, struct as_pyasyncio *ret);

void as_pytask_list_done(struct as_pytask_list *l);
/* Adds whatever is in asyncio's sets; false for want of memory. */
bool as_pytasks_list(struct as_pyreader *r, const struct as_pyasyncio *a,
		     struct as_pytask_list *ret);

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
 * The task, of those that run now, to which a stack belongs: its coroutine's
 * frame is in it, so many frames from the root.
 */
bool as_pytask_of(struct as_pyreader *r, uint64_t current, const struct as_pystack *s,
		  struct as_pytask *ret, size_t *ret_depth);
