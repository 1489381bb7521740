#pragma once
/*
 * remote -- the memory of another process, read; written only by who brings a guest.
 *
 * Nothing is stopped: what is read may change while it is read. Several
 * ranges in one call are copied in their order, so a range named twice is read
 * at two moments. Needs the right to trace the process (same user and Yama's
 * leave, or CAP_SYS_PTRACE).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/err.h"

struct as_range {
	uint64_t at; /* in the other process */
	void *to;
	size_t n;
};

/* What is read again and again, as the kernel wants it told. All zero is nothing. */
struct as_reading {
	struct iovec *to, *from;
	size_t n, to_cap, from_cap;
	size_t bytes;
};

bool as_reading_add(struct as_reading *r, struct as_range range); /* false: no memory */
void as_reading_done(struct as_reading *r);

/* All bytes of one range, or an errno (never 0): EFAULT unmapped, ESRCH gone, EPERM. */
int as_remote_read(pid_t pid, uint64_t at, void *to, size_t n);
/* How many bytes were copied, ranges in order, until one could not be; or -errno. */
ssize_t as_remote_gather(pid_t pid, const struct as_range *r, size_t n);
ssize_t as_remote_fetch(pid_t pid, const struct as_reading *r);
/* All bytes are written, or an errno: for os/inject.h and heap/ask.h alone. */
int as_remote_write(pid_t pid, uint64_t at, const void *from, size_t n);
/* Say in words why the process could not be read. */
int as_remote_fail(pid_t pid, int os, struct as_err *err);

/* A word of a copy; nothing says that it is aligned. */
static inline uint64_t as_word(const unsigned char *copy, size_t at)
{
	uint64_t v;

	memcpy(&v, copy + at, sizeof v);
	return v;
}
