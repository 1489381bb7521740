#pragma once
/*
 * haste -- a long call of ours that is given up when a child ends.
 *
 * The kernel looks at BPF programs for milliseconds before it takes them, on a busy machine for
 * tenths of a second. Whoever waits for a command that is over shall not wait for that. The
 * kernel gives up (EAGAIN) when a signal comes; but SIGCHLD is blocked, as a signalfd tells of
 * it. From begin to end it is not, and what came meanwhile is sent once more.
 */
#include <signal.h>
#include <stdbool.h>

struct as_haste {
	bool possible; /* SIGCHLD was blocked: somebody reads it elsewhere */
	sigset_t mask;
	struct sigaction chld;
};

/* False: a child has ended already. as_haste_end() follows in any case. */
bool as_haste_begin(struct as_haste *h);
/* True: a child ended meanwhile. */
bool as_haste_end(const struct as_haste *h);
