#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/fault.h"

char *as_buf_room(struct as_buf *b, size_t n)
{
	if (b->bad)
		return NULL;
	if (n > b->max || b->len > b->max - n) {
		b->bad = b->full = true;
		return NULL;
	}
	if (b->len + n + 1 > b->cap) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap < b->len + n + 1)
			cap *= 2;
		char *p = as_realloc(b->p, cap);
		if (!p) {
			b->bad = true;
			return NULL;
		}
		b->p = p;
		b->cap = cap;
	}
	return b->p + b->len;
}

void as_buf_add(struct as_buf *b, const void *p, size_t n)
{
	char *at = as_buf_room(b, n);

	if (!at)
		return;
	if (n)
		memcpy(at, p, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void as_buf_str(struct as_buf *b, const char *s)
{
	as_buf_add(b, s, strlen(s));
}

void as_buf_byte(struct as_buf *b, char c)
{
	as_buf_add(b, &c, 1);
}

void as_buf_fill(struct as_buf *b, char c, size_t n)
{
	char *at = as_buf_room(b, n);

	if (!at)
		return;
	memset(at, c, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void as_buf_fmt(struct as_buf *b, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *at = n < 0 ? NULL : as_buf_room(b, (size_t)n);
	if (at) {
		(void)vsnprintf(at, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

int as_buf_ok(const struct as_buf *b, struct as_err *err)
{
	if (b->bad)
		return as_fail(err, AS_ENOMEM, "output passed %zu bytes or memory ran out", b->max);
	return AS_OK;
}

int as_buf_write(const struct as_buf *b, FILE *out, struct as_err *err)
{
	int r = as_buf_ok(b, err);

	if (r < 0)
		return r;
	if (b->len && fwrite(b->p, 1, b->len, out) != b->len)
		return as_fail_errno(err, errno, "write output");
	return AS_OK;
}

int as_buf_write_file(const struct as_buf *b, FILE *out, const char *path, struct as_err *err)
{
	int r = as_buf_ok(b, err);

	if (r == AS_OK && ((b->len && fwrite(b->p, 1, b->len, out) != b->len) || fflush(out)))
		return as_fail_errno(err, errno, "write '%s'", path);
	return r;
}

const char *as_buf_text(const struct as_buf *b)
{
	return b->p ? b->p : "";
}

char *as_buf_take(struct as_buf *b)
{
	char *p = b->bad ? NULL : as_take(b->p);

	as_buf_done(b);
	return p;
}

void as_buf_clear(struct as_buf *b)
{
	b->len = 0;
	b->bad = b->full = false;
	if (b->p)
		b->p[0] = '\0';
}

void as_buf_done(struct as_buf *b)
{
	free(b->p);
	*b = (struct as_buf){.max = b->max};
}
