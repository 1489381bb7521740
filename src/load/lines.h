#pragma once
/*
 * lines -- a file line by line, however long they are, with the place of each:
 * who knows it can read the line again without having kept it.
 */
#include <stdint.h>

#include "base/buf.h"

enum { AS_LINE_MOST = 256 << 20 };

struct as_lines {
	const char *path;   /* borrowed                              */
	uint64_t number;    /* of the line, from 1                   */
	int64_t at;         /* where it begins                       */
	struct as_buf line; /* without its end; bad: it is too long  */
	bool whole;         /* that end was there                    */
	/* private */
	int fd;
	char *chunk;
	size_t from, to; /* of it: not taken yet */
	int64_t taken;   /* bytes of the file    */
};

/* as_lines_done() follows in any case. */
int as_lines_open(struct as_lines *l, const char *path, struct as_err *err);
/* 1: there is one, 0: that was all. */
int as_lines_next(struct as_lines *l, struct as_err *err);
void as_lines_done(struct as_lines *l);
#define as_auto_lines as_cleanup(as_lines_done)

/* The n bytes at a place of a file. */
int as_line_again(int fd, int64_t at, size_t n, struct as_buf *ret, struct as_err *err);
