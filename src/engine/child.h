#pragma once
/*
 * child -- a command that runs beside a screen of ours: started as by
 * spawn.h, its end told by a descriptor.
 */
#include <stdbool.h>

#include "engine/spawn.h"

struct as_child {
	int32_t pid; /* 0: there is none (any more)                              */
	int fd;      /* readable when it has ended                               */
	int status;  /* as wait() has it, once it has ended                      */
};

/* What it gets, besides what we have. */
struct as_child_start {
	char **argv;
	char *const *environment;
	const int *standard; /* as in spawn.h */
	const sigset_t *mask;
};

/* A command that cannot be run: *ret_exec_errno says why, and there is no child. */
int as_child_start(struct as_child *c, const struct as_child_start *how, const struct as_env *env,
		   int *ret_exec_errno, struct as_err *err);
/* Has it ended? Then there is no child any more. */
bool as_child_ended(struct as_child *c);
/* Closes the descriptor; the process is left alone. */
void as_child_done(struct as_child *c);
/* For exit(): its own, or 128 and the signal that ended it. */
int as_child_exit_status(int status);
/* … of one that could not be run, as shells have it. */
int as_child_not_run(int exec_errno);
