#pragma once
/*
 * calls -- how many system calls this thread has made, as it counts them itself.
 *
 * Whatever samples a job makes its system calls through here, or says as_called()
 * beside them, so that a run can tell what measuring it cost, collector by
 * collector. Everywhere else nobody asks. It is the one variable that belongs
 * to no struct: a counter of the thread, which no answer depends on.
 * tests/e2e/test_overhead.py holds the count against strace's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

void as_called(uint64_t n); /* so many more */
uint64_t as_calls(void);

static inline int as_openat(int dir, const char *path, int flags)
{
	as_called(1);
	return openat(dir, path, flags);
}

static inline ssize_t as_pread(int fd, void *to, size_t n, off_t at)
{
	as_called(1);
	return pread(fd, to, n, at);
}

static inline ssize_t as_pwrite(int fd, const void *from, size_t n, off_t at)
{
	as_called(1);
	return pwrite(fd, from, n, at);
}

static inline ssize_t as_read(int fd, void *to, size_t n)
{
	as_called(1);
	return read(fd, to, n);
}

static inline int as_fstatat(int dir, const char *path, struct stat *st)
{
	as_called(1);
	return fstatat(dir, path, st, 0);
}

static inline ssize_t as_readlinkat(int dir, const char *path, char *to, size_t n)
{
	as_called(1);
	return readlinkat(dir, path, to, n);
}

/* All of it, however many calls that takes: 0, or an errno. */
int as_write_all(int fd, const char *p, size_t n);
