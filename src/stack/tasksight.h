#pragma once
/*
 * tasksight -- the tasks of a process, as sampling sees them: which one a
 * stack belongs to, and the stacks of those that await something.
 */
#include "profile/profile.h"
#include "stack/tasks.h"

enum { AS_TASKSIGHT_RECENT = 8 };

struct as_tasksight {
	const struct as_env *env;
	struct as_pyreader r;
	struct as_pyasyncio asyncio;          /* of the main interpreter                         */
	uint64_t recent[AS_TASKSIGHT_RECENT]; /* tasks that were seen to run */
	size_t nrecent;
	int64_t refresh_ns; /* when to look for asyncio again, CLOCK_MONOTONIC */
	int64_t last_ns;    /* when the awaiting ones were looked at, CLOCK_MONOTONIC */
	int64_t next_ns;    /* … not before                                           */
};

/* One that awaits, its stack with the leaf first, and the time since the last such look. */
typedef void (*as_tasksight_fn)(void *arg, const struct as_buf *name, const struct as_pystack *s,
				int64_t since);

/* EUNSUP: tasks of this Python cannot be read. */
int as_tasksight_init(struct as_tasksight *t, const struct as_env *env, const struct as_python *py,
		      struct as_err *err);
/*
 * Asyncio may have been imported, classes may have gone: seen to once a second, and until it has
 * been imported as often as that takes no more than a hundredth of the time.
 */
void as_tasksight_refresh(struct as_tasksight *t, uint64_t interp, int64_t now);
/* The name of the task that a thread has in this stack, appended; false: it has none. */
bool as_tasksight_name(struct as_tasksight *t, uint64_t thread, const struct as_pystack *s,
		       struct as_buf *name);
/*
 * All that await something now, unless that was done too short a time ago: many
 * tasks cost much time, and looking at them never takes more than a twentieth
 * of it. `s` is room for a stack.
 */
void as_tasksight_awaiting(struct as_tasksight *t, int64_t now, struct as_pystack *s,
			   as_tasksight_fn fn, void *arg);
