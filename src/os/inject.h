#pragma once
/*
 * inject -- a thread of another process is borrowed for some microseconds, to
 * start a thread there that loads a library (wire/attach.h).
 *
 * The thread is interrupted as by as_microstop(), at a moment that the caller
 * judges. Below its stack and the red zone it gets a frame as a signal's handler
 * has one, with all that it was: registers, the floating point's state, its mask
 * of signals, a system call to be made again. Whatever happens -- we are killed, it
 * takes too long -- what it was made to do ends by returning through that frame,
 * without us. If all goes well we put everything back ourselves, more exactly
 * than a signal could: a sleep goes on sleeping for what was left of it.
 *
 * Other threads are not stopped. The new thread has all signals blocked.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/attach.h"

/* A thread that was interrupted, as it would go on. */
struct as_borrowed {
	uint64_t pc, sp;
	int64_t call; /* the system call that it was in; -1: none */
	uint64_t arg[2];
};

enum as_inject_result {
	AS_INJECT_DONE,
	AS_INJECT_ELSEWHERE, /* it did not stop in time, or not as it should     */
	AS_INJECT_UNSAFE,    /* `safe` said no; nothing was done                 */
	AS_INJECT_FAILED,    /* a call in the process failed: `os` is its errno  */
	AS_INJECT_LEFT,      /* it took too long: the thread goes on by itself   */
};

struct as_inject {
	pid_t pid, tid;
	/* Instructions in the process: "syscall; ret", and the return from a signal. */
	uint64_t call_at, return_at;
	bool (*safe)(void *arg, const struct as_borrowed *b);
	void *arg;
	uint64_t die_at;            /* for tests: we are killed at this step; 0: never */
	struct as_wire_attach with; /* of which addresses and texts are filled in  */
	/* Out: */
	uint64_t at;        /* of the struct in the process; 0: none was made      */
	int64_t stopped_ns; /* grows by how long the thread was not itself         */
	int os;
};

/* Is there a way, on this machine? */
bool as_inject_can(void);
enum as_inject_result as_inject(struct as_inject *i);
/* All of it was read: the guest may give it back. Or it ended before it could: then we do. */
void as_inject_release(const struct as_inject *i);
enum as_inject_result as_inject_undo(struct as_inject *i);
