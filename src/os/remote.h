#pragma once
/*
 * remote -- the memory of another process, read and never written.
 *
 * Nothing is stopped: what is read may change while it is read. Several
 * ranges in one call are copied in their order, so a range named twice is read
 * at two moments. Needs the right to trace the process (same user and Yama's
 * leave, or CAP_SYS_PTRACE).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/err.h"

struct as_range {
	uint64_t at; /* in the other process */
	void *to;
	size_t n;
};

/* All bytes of one range, or an errno (never 0): EFAULT unmapped, ESRCH gone, EPERM. */
int as_remote_read(pid_t pid, uint64_t at, void *to, size_t n);
/* How many bytes were copied, ranges in order, until one could not be; or -errno. */
ssize_t as_remote_gather(pid_t pid, const struct as_range *r, size_t n);
/* Say in words why the process could not be read. */
int as_remote_fail(pid_t pid, int os, struct as_err *err);

/* A word of a copy; nothing says that it is aligned. */
static inline uint64_t as_word(const unsigned char *copy, size_t at)
{
	uint64_t v;

	memcpy(&v, copy + at, sizeof v);
	return v;
}
