#include "os/seek.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "os/folder.h"

static bool read_stat(const struct as_env *env, int32_t pid, struct as_proc_stat *ret)
{
	char path[32], text[1024];
	struct as_err err;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/stat", (int)pid);
	return as_read_at(env->proc, path, text, sizeof text, &n, &err) == AS_OK &&
	       as_parse_stat(text, n, ret) && ret->state != 'Z' && ret->state != 'X';
}

int64_t as_seek_born(const struct as_env *env, int32_t pid)
{
	struct as_proc_stat st;

	return read_stat(env, pid, &st) ? st.start : -1;
}

/* Those of one thread; -1: they are not listed. */
static int64_t children_of(const struct as_env *env, const char *path)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_err ignored;
	int64_t n = 0;

	if (as_read_all(env->proc, path, &text, &ignored) < 0)
		return -1;
	for (size_t at = 0, used; at < text.len; at += used + 1) {
		uint64_t pid = 0;

		used = as_scan_u64(text.p + at, text.len - at, &pid);
		n += used && (pid_t)pid != getpid() && as_seek_born(env, (int32_t)pid) >= 0;
	}
	return n;
}

int64_t as_seek_children(const struct as_env *env, int32_t pid)
{
	int64_t sum = -1;
	char path[300];

	(void)snprintf(path, sizeof path, "%d/task", (int)pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(env->proc, path)};
	for (const struct dirent *e; f.fd >= 0 && (e = as_folder_next(&f));) {
		if (*e->d_name == '.')
			continue;
		(void)snprintf(path, sizeof path, "%d/task/%s/children", (int)pid, e->d_name);
		int64_t n = children_of(env, path);

		if (n >= 0)
			sum = (sum < 0 ? 0 : sum) + n;
	}
	return sum;
}

static bool is_in(const struct as_seek_found *found, size_t n, int32_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (found[i].pid == pid)
			return true;
	return false;
}

/* Is it, or one that it descends from, among those? */
static bool comes_from(const struct as_env *env, int32_t pid, const struct as_seek_found *found,
		       size_t n)
{
	enum { DEEP = 64 };
	struct as_proc_stat st;

	for (int i = 0; i < DEEP && pid > 1; i++) {
		if (is_in(found, n, pid))
			return true;
		if (!read_stat(env, pid, &st))
			return false;
		pid = st.ppid;
	}
	return false;
}

static bool fits(const struct as_seek *what, const char *line)
{
	as_auto_buf struct as_buf anywhere = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&anywhere, "*%s*", what->command ? what->command : "");
	return !anywhere.bad && fnmatch(anywhere.p, line, 0) == 0 &&
	       !(what->but && strstr(line, what->but));
}

static bool has_command(const struct as_env *env, int32_t pid, const struct as_seek *what)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	char path[32];

	(void)snprintf(path, sizeof path, "%d/cmdline", (int)pid);
	if (as_read_all(env->proc, path, &line, &err) < 0 || !line.len)
		return false;
	for (size_t i = 0; i + 1 < line.len; i++)
		if (!line.p[i])
			line.p[i] = ' ';
	return fits(what, line.p);
}

static bool has_variable(const struct as_env *env, int32_t pid, const char *name)
{
	as_auto_buf struct as_buf value = AS_BUF(AS_BUF_FILE);

	return as_seek_variable(env, pid, name, &value);
}

static bool has_socket(const struct as_env *env, int32_t pid, uint32_t inode)
{
	char path[32], want[32], link[32];

	(void)snprintf(path, sizeof path, "%d/fd", (int)pid);
	(void)snprintf(want, sizeof want, "socket:[%u]", inode);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(env->proc, path)};
	for (const struct dirent *e; (e = as_folder_next(&f));) {
		ssize_t n = readlinkat(f.fd, e->d_name, link, sizeof link - 1);

		if (n == (ssize_t)strlen(want) && !memcmp(link, want, (size_t)n))
			return true;
	}
	return false;
}

static bool matches(const struct as_env *env, int32_t pid, const struct as_seek *what)
{
	const struct as_seek_found top = {.pid = what->below};

	return (!what->below || (pid != top.pid && comes_from(env, pid, &top, 1))) &&
	       (!(what->command || what->but) || has_command(env, pid, what)) &&
	       (!what->variable || has_variable(env, pid, what->variable)) &&
	       (!what->socket || has_socket(env, pid, what->socket));
}

static bool is_sought(const struct as_env *env, const char *name, const struct as_seek *what,
		      struct as_seek_found *ret)
{
	size_t len = strlen(name);
	struct as_proc_stat st;
	uint64_t pid = 0;

	if (as_scan_u64(name, len, &pid) != len || pid > INT32_MAX ||
	    !matches(env, (int32_t)pid, what) || !read_stat(env, (int32_t)pid, &st))
		return false;
	*ret = (struct as_seek_found){st.pid, st.start};
	return !comes_from(env, getpid(), ret, 1);
}

bool as_seek_before(const struct as_seek_found *a, const struct as_seek_found *b)
{
	return a->born != b->born ? a->born < b->born : a->pid < b->pid;
}

/* Into its place; the youngest goes when there is no room. */
static size_t insert(struct as_seek_found *found, size_t n, const struct as_seek_found *one)
{
	size_t at = n;

	while (at > 0 && as_seek_before(one, &found[at - 1]))
		at--;
	if (at == AS_SEEK_MOST)
		return n;
	size_t behind = (n < AS_SEEK_MOST ? n : AS_SEEK_MOST - 1) - at;
	memmove(&found[at + 1], &found[at], behind * sizeof *found);
	found[at] = *one;
	return at + behind + 1;
}

/* A parent is older than its children, but for those that it took in. */
static size_t leave_descendants(const struct as_env *env, struct as_seek_found *found, size_t n)
{
	struct as_proc_stat st;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (read_stat(env, found[i].pid, &st) && !comes_from(env, st.ppid, found, kept))
			found[kept++] = found[i];
	return kept;
}

size_t as_seek_processes(const struct as_env *env, const struct as_seek *what,
			 struct as_seek_found found[AS_SEEK_MOST])
{
	as_auto_folder struct as_folder f = {.fd = as_folder_open(env->proc, ".")};
	struct as_seek_found one;
	size_t n = 0;

	for (const struct dirent *e; (e = as_folder_next(&f));)
		if (is_sought(env, e->d_name, what, &one))
			n = insert(found, n, &one);
	return leave_descendants(env, found, n);
}

/* ── its environment ──────────────────────────────────────────────────── */

const char *as_environ_find(const char *p, size_t n, const char *name, size_t *ret_len)
{
	size_t len = strlen(name);

	for (size_t at = 0, next; at < n; at = next + 1) {
		next = at + strnlen(p + at, n - at);
		if (next - at > len && !memcmp(p + at, name, len) && p[at + len] == '=') {
			*ret_len = next - at - len - 1;
			return p + at + len + 1;
		}
	}
	return NULL;
}

bool as_seek_variable(const struct as_env *env, int32_t pid, const char *name, struct as_buf *out)
{
	as_auto_buf struct as_buf all = AS_BUF(AS_BUF_FILE);
	struct as_err err;
	char path[32];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/environ", (int)pid);
	if (as_read_all(env->proc, path, &all, &err) < 0)
		return false;
	const char *value = as_environ_find(as_buf_text(&all), all.len, name, &n);
	if (value)
		as_buf_add(out, value, n);
	return value && n;
}
