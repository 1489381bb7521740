#pragma once
/*
 * cstacks -- on which thread's stack of C an address is.
 *
 * A thread has the description of itself (pthread_self()) at the upper end of
 * its stack, so an address is on the stack of the thread whose description is
 * the next above it. The main thread's stack is above all others.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct as_cstack {
	uint64_t top;
	pid_t tid;
};

struct as_cstacks {
	struct as_cstack *at;
	size_t n, cap;
};

void as_cstacks_done(struct as_cstacks *c);
/* False: no memory. */
bool as_cstacks_add(struct as_cstacks *c, uint64_t top, pid_t tid);
/* When all are there. */
void as_cstacks_settle(struct as_cstacks *c);
/* `main_tid` if it is above all; 0: on none that is known. */
pid_t as_cstacks_of(const struct as_cstacks *c, uint64_t address, pid_t main_tid);
