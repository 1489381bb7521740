#pragma once
/*
 * tids -- the numbers of threads, as a process counts them and as we do.
 *
 * Python knows the number that a thread has in its own pid namespace; in a
 * container that is not the one by which /proc lists it here. The kernel tells
 * both, thread by thread, so all are asked for when one is not known yet.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "os/env.h"

struct as_tids {
	const struct as_env *env;
	struct as_proc_ids self; /* the process itself          */
	struct as_proc_ids *at;  /* its threads, if they differ */
	size_t n, cap;
};

void as_tids_init(struct as_tids *t, const struct as_env *env, pid_t pid);
void as_tids_done(struct as_tids *t);
/* Does the process count in another namespace? */
bool as_tids_foreign(const struct as_tids *t);
/* Our number of the thread that it calls `inside`; 0: there is none. */
pid_t as_tids_here(struct as_tids *t, pid_t inside);
/* A thread has ended: its number may be another's by now. */
void as_tids_forget(struct as_tids *t);
