#pragma once
/*
 * states -- what a Python thread is doing, as the kernel and Python's GIL tell.
 *
 * The kernel says in which system call a thread waits, and with which
 * arguments. One that waits for a lock inside of the GIL waits for the GIL:
 * no guess is made from names of functions. Nobody is stopped for it, so a
 * state is true of a moment that is over.
 */
#include "profile/moment.h"
#include "stack/threads.h"

enum { AS_PYGILS_MOST = 64 };

/* The GILs of a process, read once for all its threads. */
struct as_pygils {
	uint64_t holder[AS_PYGILS_MOST]; /* PyThreadState * */
	size_t nholders;
	uint64_t at[AS_PYGILS_MOST]; /* where they are      */
	size_t n;
};

struct as_pystate {
	enum as_doing doing;
	int32_t call; /* the system call that it waits in; -1: none, or unknown */
	bool gil;     /* holds it                                               */
};

void as_pygils_read(const struct as_pythreads *t, struct as_pygils *ret);
struct as_pystate as_pystate_of(const struct as_pythreads *all, const struct as_pythread *t,
				const struct as_pygils *g);
