#include "os/env.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

/* A folder below the root, or -1: not every machine has every folder. */
static int folder(const char *root, const char *path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof full, "%s%s", root ? root : "", path);

	return n < PATH_MAX ? open(full, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* "name 123" somewhere in the fixture's env file. */
static void fact(const char *text, const char *name, uint64_t *ret)
{
	const char *p = strstr(text, name);

	if (p)
		(void)as_scan_u64(p + strlen(name), strlen(p + strlen(name)), ret);
}

static int fixture_facts(struct as_env *env, const char *root, struct as_err *err)
{
	as_auto_fd int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t page = 4096, hz = 100, cpus = 1;
	char text[256] = "";
	size_t n = 0;

	if (dir < 0)
		return as_fail_errno(err, errno, "open ASSAY_ROOT '%s'", root);
	if (as_read_at(dir, "env", text, sizeof text, &n, err) == AS_OK) {
		fact(text, "page ", &page);
		fact(text, "hz ", &hz);
		fact(text, "cpus ", &cpus);
	}
	env->fixture = true;
	env->page = (uint32_t)page;
	env->hz = hz ? (uint32_t)hz : 100;
	env->cpus = (int32_t)cpus;
	return AS_OK;
}

int32_t as_env_cpus(const struct as_env *env, int pid)
{
	cpu_set_t set;

	return !env->fixture && sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set)
									      : env->cpus;
}

static void machine_facts(struct as_env *env)
{
	env->page = (uint32_t)sysconf(_SC_PAGESIZE);
	env->hz = (uint32_t)sysconf(_SC_CLK_TCK);
	env->cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
	env->cpus = as_env_cpus(env, 0);
}

/* One that made a namespace is not in it itself: only its children are. */
static bool same_clocks(const struct as_env *env)
{
	char now[64], children[64];
	ssize_t n = as_readlinkat(env->proc, "self/ns/time", now, sizeof now);

	return n > 0 &&
	       as_readlinkat(env->proc, "self/ns/time_for_children", children, sizeof children) ==
		       n &&
	       !memcmp(now, children, (size_t)n);
}

/* Kernels before 5.6 have no such file, and one clock for all. */
static void clock_facts(struct as_env *env)
{
	struct as_proc_clocks ahead;
	struct as_err err;
	char text[256];
	size_t n = 0;

	if (as_read_at(env->proc, "self/timens_offsets", text, sizeof text, &n, &err) == AS_OK &&
	    as_parse_clocks(text, n, &ahead) && (ahead.monotonic || ahead.boottime) &&
	    same_clocks(env))
		env->ahead = ahead;
}

int as_env_open(struct as_env *env, struct as_err *err)
{
	const char *root = getenv("ASSAY_ROOT");
	int r = AS_OK;

	*env = (struct as_env){.proc = -1, .sys = -1, .cgroup = -1};
	if (root && !*root)
		root = NULL;
	if (root)
		r = fixture_facts(env, root, err);
	else
		machine_facts(env);
	if (r < 0)
		return r;
	env->proc = folder(root, "/proc");
	env->sys = folder(root, "/sys");
	env->cgroup = folder(root, "/sys/fs/cgroup");
	if (!root)
		clock_facts(env);
	return AS_OK;
}

void as_env_close(struct as_env *env)
{
	as_close_(&env->proc);
	as_close_(&env->sys);
	as_close_(&env->cgroup);
	env->proc = env->sys = env->cgroup = -1;
}

int as_read_fd(int fd, char *text, size_t size, size_t *ret_len, struct as_err *err)
{
	size_t len = 0;

	while (len + 1 < size) {
		ssize_t n = as_pread(fd, text + len, size - 1 - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return as_fail_errno(err, errno, "read");
		if (n == 0)
			break;
		len += (size_t)n;
		/* The kernel answers small files whole: a short read is the end. */
		if (len + 1 < size && (size_t)n < 4096)
			break;
	}
	text[len] = '\0';
	*ret_len = len;
	return AS_OK;
}

int as_read_at(int dir, const char *path, char *text, size_t size, size_t *ret_len,
	       struct as_err *err)
{
	as_auto_fd int fd = dir < 0 ? -1 : as_openat(dir, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return as_fail_errno(err, dir < 0 ? ENOENT : errno, "open '%s'", path);
	int r = as_read_fd(fd, text, size, ret_len, err);
	return r < 0 ? as_err_wrap(err, "'%s'", path) : r;
}

int as_read_all(int dir, const char *path, struct as_buf *out, struct as_err *err)
{
	as_auto_fd int fd = dir < 0 ? -1 : as_openat(dir, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return as_fail_errno(err, dir < 0 ? ENOENT : errno, "open '%s'", path);
	for (;;) {
		char *at = as_buf_room(out, 4096);
		ssize_t n = at ? as_read(fd, at, 4096) : -1;

		if (!at && out->len + 4096 <= out->max)
			return as_fail(err, AS_ENOMEM, "no memory to read '%s'", path);
		if (!at)
			return as_fail(err, AS_EFORMAT, "'%s' is larger than %zu bytes", path,
				       out->max);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return as_fail_errno(err, errno, "read '%s'", path);
		if (n == 0)
			break;
		out->len += (size_t)n;
	}
	as_buf_add(out, "", 0);
	return AS_OK;
}
