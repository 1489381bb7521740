#include "os/remote.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/fault.h"

int as_remote_read(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct as_range r = {at, to, n};
	ssize_t got = as_remote_gather(pid, &r, 1);

	return got < 0 ? (int)-got : (size_t)got == n ? 0 : EFAULT;
}

int as_remote_write(pid_t pid, uint64_t at, const void *from, size_t n)
{
	struct iovec local = {.iov_len = n}, remote = {(void *)(uintptr_t)at, n};

	memcpy(&local.iov_base, &from, sizeof from); /* which nobody writes to */
	as_called(1);
	ssize_t put = process_vm_writev(pid, &local, 1, &remote, 1, 0);
	return put < 0 ? errno : (size_t)put == n ? 0 : EFAULT;
}

static ssize_t read_some(pid_t pid, const struct iovec *to, const struct iovec *from, size_t n)
{
	as_called(1);
	ssize_t got = process_vm_readv(pid, to, n, from, n, 0);
	return got < 0 ? -errno : got;
}

static struct iovec to_of(const struct as_range *r)
{
	return (struct iovec){r->to, r->n};
}

static struct iovec from_of(const struct as_range *r)
{
	return (struct iovec){(void *)(uintptr_t)r->at, r->n};
}

ssize_t as_remote_gather(pid_t pid, const struct as_range *r, size_t n)
{
	enum { SOME = 64 };
	struct iovec to[SOME], from[SOME];
	ssize_t all = 0;

	while (n) {
		size_t k = 0, bytes = 0;

		for (; k < SOME && k < n; bytes += r[k++].n) {
			to[k] = to_of(&r[k]);
			from[k] = from_of(&r[k]);
		}
		ssize_t got = read_some(pid, to, from, k);
		if (got < 0)
			return all ? all : got;
		all += got;
		if ((size_t)got < bytes)
			break;
		n -= k;
		r += k;
	}
	return all;
}

/* ── what is read again and again ─────────────────────────────────────── */

bool as_reading_add(struct as_reading *r, struct as_range range)
{
	if (!as_grow(&r->to, &r->to_cap, r->n, sizeof *r->to, 16) ||
	    !as_grow(&r->from, &r->from_cap, r->n, sizeof *r->from, 16))
		return false;
	r->to[r->n] = to_of(&range);
	r->from[r->n++] = from_of(&range);
	r->bytes += range.n;
	return true;
}

void as_reading_done(struct as_reading *r)
{
	free(r->to);
	free(r->from);
	*r = (struct as_reading){0};
}

/* The kernel takes so many in one call. Where one falls short, the sum does too. */
ssize_t as_remote_fetch(pid_t pid, const struct as_reading *r)
{
	ssize_t all = 0;

	for (size_t i = 0, some; i < r->n; i += some) {
		some = r->n - i < IOV_MAX ? r->n - i : IOV_MAX;
		ssize_t got = read_some(pid, r->to + i, r->from + i, some);

		if (got < 0)
			return all ? all : got;
		all += got;
	}
	return all;
}

int as_remote_fail(pid_t pid, int os, struct as_err *err)
{
	if (os == ESRCH)
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)pid);
	return as_fail_errno(err, os, "read the memory of process %d", (int)pid);
}
