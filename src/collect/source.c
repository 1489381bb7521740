#include "collect/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool as_source_wanted(const struct as_source *s, const struct as_want *w)
{
	for (enum as_field_id f = s->first; f <= s->last; f++)
		if (w->field[f])
			return true;
	return false;
}

void as_source_refuse(const struct as_source *s, const struct as_collect *c, int os)
{
	for (enum as_field_id f = s->first; f <= s->last; f++)
		if (c->want->field[f])
			as_collect_origin(c, f, AS_UNAVAILABLE, "/proc/%s: %s", s->path,
					  strerror(os));
}

int as_source_open(const struct as_source *s, const struct as_collect *c)
{
	int fd = -1;

	errno = ENOENT;
	if (!as_source_wanted(s, c->want))
		return -1;
	if (c->env->proc >= 0)
		fd = as_openat(c->env->proc, s->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		as_source_refuse(s, c, errno);
	return fd;
}

void as_source_tell(const struct as_source *s, const struct as_collect *c, const int64_t *row)
{
	for (enum as_field_id f = s->first; f <= s->last; f++) {
		if (!c->want->field[f])
			continue;
		if (!row)
			as_collect_origin(c, f, AS_UNAVAILABLE, "/proc/%s: not understood",
					  s->path);
		else if (as_row_at(row, f) == AS_NA)
			as_collect_origin(c, f, AS_UNAVAILABLE, "/proc/%s: not in it", s->path);
		else
			as_collect_origin(c, f, AS_MEASURED, "/proc/%s", s->path);
	}
}

bool as_source_read(int fd, char *text, size_t size, size_t *ret_n)
{
	struct as_err err;

	return as_read_fd(fd, text, size, ret_n, &err) == AS_OK && *ret_n + 1 < size;
}
