#include "os/folder.h"

#include <sys/syscall.h>

#include "base/calls.h"

int as_folder_open(int dir, const char *path)
{
	return as_openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

const struct dirent *as_folder_next(struct as_folder *f)
{
	if (f->fd < 0)
		return NULL;
	if (f->at == f->n) {
		as_called(1);
		long n = syscall(SYS_getdents64, f->fd, f->text, sizeof f->text);

		f->at = 0;
		f->n = n > 0 ? (size_t)n : 0;
		if (!f->n)
			return NULL;
	}
	/* What getdents64 writes is a struct dirent where off_t has 64 bits. */
	_Static_assert(sizeof(((struct dirent *)NULL)->d_off) == 8, "entries have 64 bits");
	const struct dirent *e = (const struct dirent *)(const void *)(f->text + f->at);
	f->at += e->d_reclen;
	return e;
}
