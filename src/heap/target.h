#pragma once
/*
 * target -- may a guest come into this process while it runs, and by which way?
 *
 * Everything is asked before anything is touched. What cannot be safe is
 * refused, with a sentence that says what would be.
 */
#include <sys/types.h>

#include "base/libfile.h"
#include "heap/target_text.h"
#include "os/env.h"

struct as_way_in {
	pid_t pid;
	char library[AS_LIBFILE_MAX];
	/* Addresses in the process; door 0: the library is not there. */
	uint64_t door, thread_create, load, find, why, detach;
	uint64_t call_at, return_at; /* instructions of its libc, as os/inject.h wants them */
	struct as_target_maps code;  /* without the files */
	struct as_err bound;         /* code not 0: no thread may be borrowed, and why */
};

/* `door` is the path of the collector's socket; NULL: there is none yet. */
int as_way_in(const struct as_env *env, pid_t pid, const char *door, struct as_way_in *ret,
	      struct as_err *err);
