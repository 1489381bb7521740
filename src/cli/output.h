#pragma once
/*
 * output -- the file that a command was told to write, or standard output.
 *
 * A file appears whole or not at all: it is written under another name beside its
 * own, and gets its own, with the rights of the one it replaces, when all of it is
 * there. What is no file of one name (a terminal, a pipe, a link), or lies where
 * nothing can be put beside it, is written to as it is.
 */
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { AS_OUTPUT_PATH = 4096 };

struct as_output {
	const char *path;            /* the caller's                             */
	FILE *file;                  /* NULL: standard output                    */
	char beside[AS_OUTPUT_PATH]; /* its name until it is whole; "": it has its own */
};

/* No name, or "-". */
bool as_output_is_standard(const char *path);
/*
 * Before the work begins: a name that cannot be written must not cost it. What the
 * file had stays until there is something to write: the work may come to nothing.
 */
int as_output_open(struct as_output *o, const char *path, struct as_err *err);
/* All of it. */
int as_output_write(struct as_output *o, const struct as_buf *b, FILE *standard,
		    struct as_err *err);
/* What was not written is taken away. */
void as_output_done(struct as_output *o);
#define as_auto_output as_cleanup(as_output_done)
/* Who will read it: of a terminal one may ask how wide it is. */
int as_output_fd(const struct as_output *o, FILE *standard);

/* Of --html, which has no file unless it is named. A summary beside it would spoil the page. */
bool as_output_page_is_standard(const char *html);
/* `document`: is another thing written to standard output? Then the page needs a file. */
int as_output_check_page(const char *html, bool document, struct as_err *err);
