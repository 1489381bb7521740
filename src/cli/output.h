#pragma once
/*
 * output -- the file that a command was told to write, or standard output.
 */
#include <stdio.h>

#include "base/buf.h"

/* No name, or "-". */
bool as_output_is_standard(const char *path);
/*
 * Before the work begins: a name that cannot be written must not cost it. What the
 * file had stays until there is something to write: the work may come to nothing.
 * *ret is NULL for standard output.
 */
int as_output_open(const char *path, FILE **ret, struct as_err *err);
/* Of --html, which has no file unless it is named. A summary beside it would spoil the page. */
bool as_output_page_is_standard(const char *html);
/* `document`: is another thing written to standard output? Then the page needs a file. */
int as_output_check_page(const char *html, bool document, struct as_err *err);
/* All of it, to where `path` and `file` (as it was opened) say. */
int as_output_write(const struct as_buf *b, FILE *file, const char *path, FILE *standard,
		    struct as_err *err);
