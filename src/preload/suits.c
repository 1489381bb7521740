#include "preload/suits.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "preload/environment.h"
#include "preload/sys.h"
#include "wire/program.h"

enum { PATH_ROOM = 512 }; /* longer ones are not looked at */

/* It may be a pipe: who only looks does not wait for somebody to write there. */
static long open_program(const char *path)
{
	return as_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0, 0,
		       0);
}

static long read_program(int fd, void *to, size_t n, uint64_t at)
{
	return as_sys6(SYS_pread64, fd, (long)to, (long)n, (long)at, 0, 0);
}

/* Does it? `script`: the program of a script, which is to be asked too; empty: it is none. */
static bool head_suits(long fd, char script[AS_PROGRAM_SCRIPT])
{
	unsigned char head[AS_PROGRAM_HEAD];
	long n = read_program((int)fd, head, sizeof head, 0);

	script[0] = '\0';
	if (n <= 0)
		return true;
	(void)as_program_script(head, (size_t)n, script);
	return !as_program_is_musl(head, (size_t)n) &&
	       !as_program_has_asan(head, (size_t)n, (int)fd, read_program);
}

static bool path_suits(char path[AS_PROGRAM_SCRIPT])
{
	bool suits = true;

	for (int i = 0; suits && *path && i < AS_PROGRAM_SCRIPTS; i++) {
		long fd = open_program(path);

		if (fd < 0)
			break;
		suits = head_suits(fd, path);
		as_sys3(SYS_close, fd, 0, 0);
	}
	return suits;
}

bool as_suits_fd(int fd)
{
	char script[AS_PROGRAM_SCRIPT];

	return head_suits(fd, script) && path_suits(script);
}

static bool file_suits(const char *path)
{
	long fd = open_program(path);
	bool suits = fd < 0 || as_suits_fd((int)fd);

	if (fd >= 0)
		as_sys3(SYS_close, fd, 0, 0);
	return suits;
}

/* "folder/file"; false: there is no room for it. */
static bool join(char to[PATH_ROOM], const char *folder, size_t n, const char *file)
{
	size_t bytes = strlen(file) + 1;

	if (n + 1 + bytes > PATH_ROOM)
		return false;
	memcpy(to, folder, n);
	if (n)
		to[n++] = '/';
	memcpy(to + n, file, bytes);
	return true;
}

/* The first of PATH that may be executed. */
static bool sought_suits(const char *file, const char *folders)
{
	char path[PATH_ROOM];

	for (const char *s = folders;; s++) {
		size_t n = strcspn(s, ":");

		if (join(path, s, n, file) && !as_sys3(SYS_faccessat, AT_FDCWD, (long)path, X_OK))
			return file_suits(path);
		s += n;
		if (!*s)
			return true;
	}
}

bool as_suits(const char *file, bool sought)
{
	const char *folders = sought && !strchr(file, '/') ? as_environment_get("PATH") : NULL;

	return folders ? sought_suits(file, folders) : file_suits(file);
}
