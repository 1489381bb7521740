#pragma once
/*
 * pyasyncio -- which tasks asyncio has, in another process.
 *
 * It keeps all of them in sets of its own, and those that run now by their
 * loop. From 3.14 on tasks are in lists instead, one of each thread and one of
 * the interpreter (of threads that have ended), and a thread knows the task
 * that it runs; where, the module itself tells (pyabi/asyncio.h). Sets remain
 * for tasks that are not written in C.
 */
#include "pyabi/asyncio.h"
#include "stack/pymodule.h"

enum { AS_PYTASKS_MOST = 1 << 16, AS_PYTASKS_RUNNING = 64 };

struct as_pytask_list {
	uint64_t *at;
	size_t n, cap;
};

enum as_asyncio_told {
	AS_TOLD_NOT_YET, /* there is no asyncio in it, or one that need not tell */
	AS_TOLD,
	AS_TOLD_NOTHING, /* … that should and does not                           */
};

/*
 * What asyncio has of an interpreter's tasks; 0: no such thing, or no asyncio.
 * One of a process that was not looked at before is all 0.
 */
struct as_pyasyncio {
	uint64_t interp;
	uint64_t all, scheduled; /* WeakSets: until 3.11, from 3.12                      */
	uint64_t eager;          /* a set                                                */
	uint64_t current;        /* a dict of those that run now, by their loops         */
	enum as_asyncio_told told;
	struct as_py_asyncio at; /* if it told */
};

/* What it told is asked for once a process: finding that takes a look at its files. */
void as_pyasyncio_find(const struct as_env *env, struct as_pyreader *r, uint64_t interp,
		       struct as_pyasyncio *a);
/* Is it known where its tasks are? One that is being imported has not all of it yet. */
bool as_pyasyncio_found(const struct as_pyasyncio *a);
/* The sentence for one that told nothing. */
int as_pyasyncio_fail(const struct as_python *py, struct as_err *err);

void as_pytask_list_done(struct as_pytask_list *l);
/* Adds whatever is in asyncio's sets and lists; false for want of memory. */
bool as_pytasks_list(struct as_pyreader *r, const struct as_pyasyncio *a,
		     struct as_pytask_list *ret);
/*
 * Those that run now. Where threads know theirs, only this one is asked;
 * `thread` 0: all of the interpreter.
 */
size_t as_pytasks_running(struct as_pyreader *r, const struct as_pyasyncio *a, uint64_t thread,
			  uint64_t task[AS_PYTASKS_RUNNING]);
