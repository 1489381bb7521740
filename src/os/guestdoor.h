#pragma once
/*
 * guestdoor -- a socket in a folder of its own where guests of one session knock.
 *
 * Only processes of our own user come in. A guest says one packet and gets one
 * back, with descriptors; then the connection is closed.
 */
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

enum { AS_GUESTDOOR_PATH = 108 };

/* Files that may lie beside the socket for a moment (heap/ask.h). */
#define AS_GUESTDOOR_ASK    "ask"
#define AS_GUESTDOOR_SCRIPT "ask.py"

struct as_guestdoor {
	int fd;
	char folder[AS_GUESTDOOR_PATH]; /* empty: none */
	char path[AS_GUESTDOOR_PATH];
};

/* In $XDG_RUNTIME_DIR, $TMPDIR or /tmp, whichever there is. */
int as_guestdoor_open(struct as_guestdoor *d, struct as_err *err);
/* Whoever knocks finds it closed from now on; what is open stays so. */
void as_guestdoor_close(struct as_guestdoor *d);

/*
 * The next guest: a connection, or -1 when there is none, or none that may come
 * in. `hello` gets its packet, which has exactly `n` bytes.
 */
int as_guestdoor_accept(const struct as_guestdoor *d, void *hello, size_t n, pid_t *ret_pid);
/* The answer, with two descriptors, which stay ours too. */
int as_guestdoor_answer(int connection, const void *answer, size_t n, const int fds[2],
			struct as_err *err);
