#include "cli/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/human.h"

static int unnamed(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];

	(void)snprintf(path, sizeof path, "%s/assay-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, O_APPEND | O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

int as_aside_open(struct as_aside *a, const char *path, struct as_err *err)
{
	a->named = path;
	a->fd = path ? open(path, O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
		     : unnamed();
	if (a->fd < 0)
		return path ? as_fail_errno(err, errno, "open '%s'", path)
			    : as_fail_errno(err, errno, "open a file for what the command writes");
	a->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (a->nothing < 0)
		return as_fail_errno(err, errno, "open '/dev/null'");
	a->standard[0] = a->nothing;
	a->standard[1] = a->fd;
	a->standard[2] = isatty(STDERR_FILENO) ? a->fd : STDERR_FILENO;
	return AS_OK;
}

void as_aside_close(struct as_aside *a)
{
	as_close_(&a->fd);
	as_close_(&a->nothing);
}

static off_t size_of(const struct as_aside *a)
{
	off_t size = a->fd < 0 ? 0 : lseek(a->fd, 0, SEEK_END);

	return size > 0 ? size : 0;
}

const char *as_aside_last(struct as_aside *a)
{
	off_t size = size_of(a), from = size > AS_ASIDE_SHOWN ? size - AS_ASIDE_SHOWN : 0;
	ssize_t n = a->fd < 0 ? 0 : pread(a->fd, a->shown, AS_ASIDE_SHOWN, from);

	a->shown[n > 0 ? n : 0] = '\0';
	const char *line = from ? strchr(a->shown, '\n') : NULL;
	return line ? line + 1 : a->shown;
}

static void begin_pouring(struct as_aside *a)
{
	off_t size = size_of(a);

	a->poured = size > AS_ASIDE_POURED ? size - AS_ASIDE_POURED : 0;
	if (a->poured)
		(void)fprintf(stderr, "assay: the first %s of what it wrote are not shown\n",
			      as_human_bytes((double)a->poured).s);
}

void as_aside_pour(struct as_aside *a)
{
	char part[4096];
	ssize_t n;

	if (a->fd < 0 || a->named)
		return;
	if (a->poured < 0)
		begin_pouring(a);
	while ((n = pread(a->fd, part, sizeof part, a->poured)) > 0 &&
	       write(STDOUT_FILENO, part, (size_t)n) == n)
		a->poured += n;
}
