#pragma once
/*
 * buf -- a bounded, growing, NUL-terminated byte string.
 *
 * Appends never fail loudly: the first one that would pass `max` (or run out
 * of memory) sets `bad` and everything after it is a no-op. Build the whole
 * document, then look at `bad` once, through as_buf_ok() or as_buf_write().
 * Zero-initialised is valid, empty, and refuses everything (max is 0).
 *
 * Every buffer is born with its limit: AS_BUF(AS_BUF_LINE) and so on.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"

enum as_buf_limit {
	AS_BUF_LINE = 64 << 10,    /* a line, a path, a message            */
	AS_BUF_FILE = 16 << 20,    /* a /proc file, a record, a page       */
	AS_BUF_DOCUMENT = 1 << 30, /* a whole report or export             */
};

struct as_buf {
	char *p;    /* NUL-terminated, or NULL while empty       */
	size_t len; /* bytes, not counting the NUL               */
	size_t cap;
	size_t max; /* refuse to grow beyond this                */
	bool bad;   /* an append was refused; content is cut     */
	bool full;  /* … because of max, not for want of memory  */
};

#define AS_BUF(limit) ((struct as_buf){.max = (limit)})

void as_buf_add(struct as_buf *b, const void *p, size_t n);
void as_buf_str(struct as_buf *b, const char *s);
void as_buf_byte(struct as_buf *b, char c);
void as_buf_fill(struct as_buf *b, char c, size_t n);
__attribute__((format(printf, 2, 3))) void as_buf_fmt(struct as_buf *b, const char *fmt, ...);

/* Room for n more bytes at the returned place; commit with b->len += used. NULL: it is bad. */
char *as_buf_room(struct as_buf *b, size_t n);

int as_buf_ok(const struct as_buf *b, struct as_err *err);               /* fails on a bad one */
int as_buf_write(const struct as_buf *b, FILE *out, struct as_err *err); /* likewise           */
/* To a file by its name, down to the kernel. */
int as_buf_write_file(const struct as_buf *b, FILE *out, const char *path, struct as_err *err);
const char *as_buf_text(const struct as_buf *b); /* "" when empty      */
char *as_buf_take(struct as_buf *b);             /* caller frees; NULL if bad or empty */
void as_buf_clear(struct as_buf *b);             /* empty, keeps memory */
void as_buf_done(struct as_buf *b);

#define as_auto_buf as_cleanup(as_buf_done) /* as_auto_buf struct as_buf b = AS_BUF(…); */
