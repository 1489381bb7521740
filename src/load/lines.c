#include "load/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fault.h"

enum { CHUNK = 256 << 10 };

int as_lines_open(struct as_lines *l, const char *path, struct as_err *err)
{
	*l = (struct as_lines){.path = path, .line = AS_BUF(AS_LINE_MOST), .fd = -1};
	l->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (l->fd < 0)
		return as_fail_errno(err, errno, "open '%s'", path);
	l->chunk = as_zalloc(CHUNK);
	return l->chunk ? AS_OK : as_fail(err, AS_ENOMEM, "no memory to read '%s'", path);
}

static int fill(struct as_lines *l, struct as_err *err)
{
	ssize_t n = read(l->fd, l->chunk, CHUNK);

	if (n < 0)
		return as_fail_errno(err, errno, "read '%s'", l->path);
	l->from = 0;
	l->to = (size_t)n;
	return n > 0;
}

/* Up to the end of the line, or of what is there. */
static void take(struct as_lines *l)
{
	const char *p = l->chunk + l->from, *end = memchr(p, '\n', l->to - l->from);
	size_t n = end ? (size_t)(end - p) : l->to - l->from;

	as_buf_add(&l->line, p, n);
	l->from += n + (end != NULL);
	l->taken += (int64_t)n + (end != NULL);
	l->whole = end;
}

int as_lines_next(struct as_lines *l, struct as_err *err)
{
	int r = 1;

	l->at = l->taken;
	as_buf_clear(&l->line);
	l->whole = false;
	l->number++;
	while (r > 0 && !l->whole) {
		r = l->from < l->to ? 1 : fill(l, err);
		if (r > 0)
			take(l);
	}
	return r < 0 ? r : r > 0 || l->line.len || l->line.bad;
}

void as_lines_done(struct as_lines *l)
{
	as_buf_done(&l->line);
	free(l->chunk);
	as_close_(&l->fd);
}

int as_line_again(int fd, int64_t at, size_t n, struct as_buf *ret, struct as_err *err)
{
	as_buf_clear(ret);
	char *to = as_buf_room(ret, n);

	while (to && ret->len < n) {
		ssize_t got = pread(fd, to + ret->len, n - ret->len, (off_t)at + (off_t)ret->len);

		if (got <= 0)
			return as_fail_errno(err, got < 0 ? errno : EIO, "read a row again");
		ret->len += (size_t)got;
		to[ret->len] = '\0';
	}
	return to ? AS_OK : as_buf_ok(ret, err);
}
