#pragma once
/*
 * dumptasks -- the asyncio tasks of a process, for a dump: what each does, its
 * stack, and which of the others it awaits.
 */
#include "profile/moment.h"
#include "stack/code.h"
#include "stack/taskwatch.h"

/* A task that a thread was seen to run. */
struct as_task_seen {
	uint64_t task;
	size_t thread; /* of the moment                                  */
	size_t depth;  /* of its first frame in that thread's stack      */
};

struct as_dumptasks {
	struct as_pyreader *r;
	struct as_codes *codes;
	struct as_moment *to;
	const struct as_taskwatch *watch; /* what was seen of them before */
	const struct as_task_seen *seen;
	size_t nseen;
};

/* Add the tasks of these interpreters to the moment; its threads are there already. */
int as_dump_tasks(const struct as_dumptasks *d, const struct as_pyasyncio *asyncio, size_t n,
		  struct as_err *err);
