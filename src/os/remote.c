#include "os/remote.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

#include "base/calls.h"

int as_remote_read(pid_t pid, uint64_t at, void *to, size_t n)
{
	struct as_range r = {at, to, n};
	ssize_t got = as_remote_gather(pid, &r, 1);

	return got < 0 ? (int)-got : (size_t)got == n ? 0 : EFAULT;
}

/* The kernel takes so many ranges in one call. */
static ssize_t gather_some(pid_t pid, const struct as_range *r, size_t n)
{
	struct iovec here[IOV_MAX], there[IOV_MAX];

	for (size_t i = 0; i < n; i++) {
		here[i] = (struct iovec){r[i].to, r[i].n};
		there[i] = (struct iovec){(void *)(uintptr_t)r[i].at, r[i].n};
	}
	as_called(1);
	ssize_t got = process_vm_readv(pid, here, n, there, n, 0);
	return got < 0 ? -errno : got;
}

static size_t bytes_of(const struct as_range *r, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += r[i].n;
	return bytes;
}

ssize_t as_remote_gather(pid_t pid, const struct as_range *r, size_t n)
{
	ssize_t all = 0;

	for (size_t some; n; n -= some, r += some) {
		some = n < IOV_MAX ? n : IOV_MAX;
		ssize_t got = gather_some(pid, r, some);

		if (got < 0)
			return all ? all : got;
		all += got;
		if ((size_t)got < bytes_of(r, some))
			break;
	}
	return all;
}

int as_remote_fail(pid_t pid, int os, struct as_err *err)
{
	if (os == ESRCH)
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)pid);
	(void)as_fail_errno(err, os, "read the memory of process %d", (int)pid);
	if (os == EPERM || os == EACCES)
		return as_hint(err, "be its user and start it with 'assay record -- …', or be "
				    "root; in a container: --cap-add SYS_PTRACE");
	return err->code;
}
