#include "os/ready.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "os/machine.h"

int as_ready_open(const struct as_env *env)
{
	as_auto_fd int fd = as_openat(env->proc, "loadavg", O_RDONLY | O_CLOEXEC);
	struct statfs of;

	if (fd < 0 || fstatfs(fd, &of) < 0 || of.f_type != PROC_SUPER_MAGIC)
		return -1;
	return as_take_fd(fd);
}

bool as_ready_nobody(int fd)
{
	struct as_err ignored;
	uint64_t ready;
	char text[128];
	size_t n = 0;

	return fd >= 0 && as_read_fd(fd, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_ready(text, n, &ready) && ready <= 1;
}
