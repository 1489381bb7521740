#pragma once
/*
 * states -- what a Python thread is doing, as the kernel and Python's GIL tell.
 *
 * The kernel says in which system call a thread waits, and with which
 * arguments. One that waits for a lock inside of the GIL waits for the GIL:
 * no guess is made from names of functions. Nobody is stopped for it, so a
 * state is true of a moment that is over; that of all threads is taken so that
 * it agrees with who has the GIL.
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
	enum as_gil gil;
};

void as_pygils_read(const struct as_pythreads *t, struct as_pygils *ret);
struct as_pystate as_pystate_of(const struct as_pythreads *all, const struct as_pythread *t,
				const struct as_pygils *g);
/* Of all of them, by their place in the list, which has room for each. */
void as_pystates_read(const struct as_pythreads *all, struct as_pystate *ret);
/*
 * Do states that were read between two looks at the GILs agree with both? Nobody
 * who has one waits for it, and somebody has one that is waited for. If not,
 * who had it at one of them has it perhaps, unless he waits.
 */
bool as_pystates_agree(const struct as_pythreads *all, const struct as_pygils *before,
		       const struct as_pygils *after, struct as_pystate *state);
