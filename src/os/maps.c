#include "os/maps.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

int as_maps_read(const struct as_env *env, int pid, struct as_buf *out, struct as_err *err)
{
	char path[32];

	(void)snprintf(path, sizeof path, "%d/maps", pid);
	return as_read_all(env->proc, path, out, err);
}

/* A text and how much of it was read. */
struct cursor {
	const char *p;
	size_t n;
};

static bool take(struct cursor *c, size_t n)
{
	if (!n || n > c->n)
		return false;
	c->p += n;
	c->n -= n;
	return true;
}

static bool take_char(struct cursor *c, char want)
{
	return c->n && *c->p == want && take(c, 1);
}

static bool take_hex(struct cursor *c, uint64_t *ret)
{
	return take(c, as_scan_hex(c->p, c->n, ret));
}

static bool take_rights(struct cursor *c, struct as_map *m)
{
	if (c->n < 4)
		return false;
	m->write = c->p[1] == 'w';
	m->exec = c->p[2] == 'x';
	return take(c, 4);
}

/* "start-end rwxp offset major:minor inode   path" */
static bool parse(struct cursor c, struct as_map *m)
{
	uint64_t major, minor;

	*m = (struct as_map){0};
	if (!take_hex(&c, &m->start) || !take_char(&c, '-') || !take_hex(&c, &m->end) ||
	    !take_char(&c, ' ') || !take_rights(&c, m) || !take_char(&c, ' ') ||
	    !take_hex(&c, &m->offset) || !take_char(&c, ' ') || !take_hex(&c, &major) ||
	    !take_char(&c, ':') || !take_hex(&c, &minor) || !take_char(&c, ' ') ||
	    !take(&c, as_scan_u64(c.p, c.n, &m->inode)))
		return false;
	while (take_char(&c, ' '))
		;
	m->path = c.p;
	m->path_len = c.n;
	return m->start < m->end;
}

bool as_maps_next(const char *text, size_t n, size_t *at, struct as_map *ret)
{
	while (*at < n) {
		const char *line = text + *at, *end = memchr(line, '\n', n - *at);
		size_t len = end ? (size_t)(end - line) : n - *at;

		*at += len + 1;
		if (parse((struct cursor){line, len}, ret))
			return true;
	}
	return false;
}
