#include "stack/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/calls.h"
#include "base/cleanup.h"

/* What stands in its place may be a pipe, and nobody waits for that. */
static int open_map(const struct as_env *env, pid_t pid, const struct as_map *m)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char path[4200];
	int fd;

	(void)snprintf(path, sizeof path, "%d/map_files/%lx-%lx", (int)pid, (unsigned long)m->start,
		       (unsigned long)m->end);
	fd = as_openat(env->proc, path, flags);
	if (fd >= 0 || m->path_len > 4096)
		return fd;
	(void)snprintf(path, sizeof path, "%d/root%.*s", (int)pid, (int)m->path_len, m->path);
	return as_openat(env->proc, path, flags);
}

bool as_mapped_open(const struct as_env *env, pid_t pid, const struct as_map *m,
		    struct as_mapped *ret)
{
	struct as_err ignored;
	uint64_t here;

	*ret = (struct as_mapped){.fd = open_map(env, pid, m), .elf = {.fd = -1}};
	ret->os = ret->fd < 0 ? errno : 0;
	if (ret->fd < 0 || as_elf_open(ret->fd, &ret->elf, &ignored) < 0 ||
	    !as_elf_address(&ret->elf, m->offset, &here))
		return false;
	ret->bias = m->start - here;
	return true;
}

void as_mapped_close(struct as_mapped *f)
{
	as_elf_close(&f->elf);
	if (f->fd >= 0)
		(void)close(f->fd);
}

static bool has_section(const struct as_env *env, pid_t pid, const struct as_map *m,
			const char *name, uint64_t *ret_at, uint64_t *ret_size)
{
	as_cleanup(as_mapped_close) struct as_mapped f = {.fd = -1};

	if (!as_mapped_open(env, pid, m, &f) || !as_elf_section(&f.elf, name, ret_at, ret_size))
		return false;
	*ret_at += f.bias;
	return true;
}

bool as_mapped_section(const struct as_env *env, pid_t pid, const char *name, uint64_t *ret_at,
		       uint64_t *ret_size)
{
	as_auto_buf struct as_buf maps = AS_BUF(AS_BUF_FILE);
	struct as_err ignored;
	uint64_t last = 0;
	struct as_map m;

	if (as_maps_read(env, pid, &maps, &ignored) < 0)
		return false;
	for (size_t at = 0; as_maps_next(maps.p, maps.len, &at, &m); last = m.inode)
		if (m.inode && m.inode != last && m.path_len && *m.path == '/' &&
		    has_section(env, pid, &m, name, ret_at, ret_size))
			return true;
	return false;
}
