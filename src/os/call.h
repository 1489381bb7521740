#pragma once
/*
 * call -- the system call that a thread is in: /proc/PID/task/TID/syscall.
 *
 * The kernel tells it only of a thread that is off the CPU; of one that runs,
 * or is ready to, it says so. Needs the right to trace the process.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AS_CALL_ARGS = 6 };

struct as_call {
	bool runs;  /* on a CPU or ready for one: nothing else is known         */
	int32_t nr; /* of the call; -1: it waits in none, as for a page of memory */
	uint64_t arg[AS_CALL_ARGS];
};

/* False when it is no such line. */
bool as_parse_call(const char *p, size_t n, struct as_call *ret);
/* "epoll_wait"; NULL: a call that hardly ever waits, and has no name here. */
const char *as_call_name(int32_t nr);
/* Is waiting all that this call is for: for events, for time, for a lock, for a child? */
bool as_call_idles(int32_t nr);
/* Does it wait for a lock (or whatever else is made of one), at the address of arg[0]? */
bool as_call_locks(int32_t nr);
/* Is it the thread's last? */
bool as_call_ends(int32_t nr);
