#pragma once
/*
 * aside -- what a command writes while a screen of ours is shown.
 *
 * It goes to a file, so that it does not tear the screen: a temporary one
 * without a name, or one that was asked for. The last of it can be looked at,
 * and is poured out to standard output when the screen is gone.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { AS_ASIDE_SHOWN = 16 << 10, AS_ASIDE_POURED = 64 << 10 };

struct as_aside {
	int fd;          /* -1: there is none                          */
	int nothing;     /* /dev/null                                  */
	int standard[3]; /* what the command gets                      */
	bool named;      /* the file stays                             */
	off_t poured;    /* up to there; -1: nothing was yet           */
	char shown[AS_ASIDE_SHOWN + 1];
};

#define AS_ASIDE ((struct as_aside){.fd = -1, .nothing = -1, .poured = -1})

/* path: the file, NULL for one without a name. Errors go aside only if they were for a terminal. */
int as_aside_open(struct as_aside *a, const char *path, struct as_err *err);
void as_aside_close(struct as_aside *a);
/* The last of it, from the beginning of a line. */
const char *as_aside_last(struct as_aside *a);
/* What was not poured yet, of the first time only the last. Not of a file with a name. */
void as_aside_pour(struct as_aside *a);
