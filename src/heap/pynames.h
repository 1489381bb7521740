#pragma once
/*
 * pynames -- what Python's `threading` calls the threads of a process that records.
 *
 * Python tells the kernel only from 3.14 on, and 15 letters of it. So the process is
 * read from outside, as `assay dump` does: nothing of it is called, or stands still.
 * A thread is asked for soon after its first record, then ever more seldom, as names
 * change; one that lives for some milliseconds only may keep the kernel's name.
 *
 * The main thread keeps that in any case: it is the program's.
 */
#include "heap/mapping.h"
#include "heap/names.h"
#include "os/env.h"

struct as_pynames;

/* *p is NULL at the beginning. Names that are known now go into `n`. */
void as_pynames_look(struct as_pynames **p, const struct as_env *env, pid_t pid,
		     const struct as_mapping *m, struct as_heap_names *n);
void as_pynames_free(struct as_pynames *p);
