#pragma once
/*
 * dump -- takes a moment of a Python process: all its threads, as they are.
 *
 * Stacks are read as snapshot.h reads them. A thread that changes too fast is
 * looked at again a little later, and at last said to have changed.
 */
#include "profile/moment.h"
#include "stack/python.h"

struct as_dump_config {
	bool locals;      /* the variables of each frame, too */
	bool tasks;       /* the tasks of asyncio, too        */
	int64_t watch_ns; /* … watched for this long first, to tell their times; 0: not */
};

/* Fails as as_python_find() does. */
int as_dump(const struct as_env *env, pid_t pid, const struct as_dump_config *config,
	    struct as_moment **ret, struct as_err *err);
