#pragma once
/*
 * invite -- what a command's environment must say, so that a guest comes.
 */
#include "base/err.h"

enum { AS_INVITE = 2 }; /* variables */

struct as_invite {
	char *set[AS_INVITE + 1]; /* "NAME=value", NULL-ended */
};

/*
 * The library is the first of those that are preloaded already. Refused when the
 * program (NULL: none is started) could not even be started with it.
 */
int as_invite(struct as_invite *v, const char *door, const char *program, struct as_err *err);
void as_invite_done(struct as_invite *v);
