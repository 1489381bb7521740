#include "os/ending.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/calls.h"
#include "base/num.h"

/* As in linux/pidfd.h, which older systems do not have. */
struct info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};

#define GET_INFO _IOWR(0xff, 11, struct info)
#define HAS_EXIT (UINT64_C(1) << 3)

/* The last number of the line, once the state after the name is that of the dead. */
static bool zombie(const struct as_env *env, pid_t pid, int *ret_status)
{
	char path[40], text[2048];
	struct as_err err;
	size_t n = 0;
	uint64_t code;

	(void)snprintf(path, sizeof path, "%d/stat", (int)pid);
	if (as_read_at(env->proc, path, text, sizeof text, &n, &err) < 0)
		return false;
	const char *name = memrchr(text, ')', n);
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	const char *last = memrchr(text, ' ', n);

	if (!name || !last || last < name + 3 || (name[2] != 'Z' && name[2] != 'X') ||
	    !as_scan_u64(last + 1, (size_t)(text + n - last - 1), &code))
		return false;
	*ret_status = (int)(code & 0xffff);
	return true;
}

bool as_ending(int pidfd, const struct as_env *env, pid_t pid, int *ret_status)
{
	struct info i = {.mask = HAS_EXIT};

	as_called(1);
	if (ioctl(pidfd, GET_INFO, &i) || !(i.mask & HAS_EXIT))
		return zombie(env, pid, ret_status);
	*ret_status = i.exit_code;
	return true;
}
