#pragma once
/*
 * whole -- a file that appears whole or not at all.
 *
 * It is written under another name beside its own, and gets its own when all
 * of it is there. What is no file (a terminal, a pipe, a link) is written to as
 * it is; "-" is standard output.
 */
#include <stdio.h>

#include "base/buf.h"

enum { AS_WHOLE_PATH = 4096 };

struct as_whole {
	const char *path; /* the caller's */
	FILE *file;       /* NULL: standard output */
	char beside[AS_WHOLE_PATH];
};

/* Before the work begins: a name that cannot be written must not cost it. */
int as_whole_open(struct as_whole *w, const char *path, struct as_err *err);
int as_whole_write(struct as_whole *w, const struct as_buf *b, FILE *standard, struct as_err *err);
/* What was not written is taken away. */
void as_whole_done(struct as_whole *w);
