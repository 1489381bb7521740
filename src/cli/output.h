#pragma once
/*
 * output -- the file that a command was told to write, or standard output.
 */
#include <stdio.h>

#include "base/buf.h"

/*
 * Before the work begins: a name that cannot be written must not cost it. *ret
 * is NULL for standard output: no name, or "-".
 */
int as_output_open(const char *path, FILE **ret, struct as_err *err);
/* All of it, to where `path` and `file` (as it was opened) say. */
int as_output_write(const struct as_buf *b, FILE *file, const char *path, FILE *standard,
		    struct as_err *err);
