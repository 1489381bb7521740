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

/* Are we below that process, or it itself? */
static bool leads_to_us(const struct as_env *env, int32_t pid)
{
	enum { DEEP = 64 };
	struct as_proc_stat st;
	int32_t at = getpid();

	for (int i = 0; i < DEEP && at > 1; i++) {
		if (at == pid)
			return true;
		if (!read_stat(env, at, &st))
			return false;
		at = st.ppid;
	}
	return false;
}

static bool matches(const struct as_env *env, int32_t pid, const char *pattern)
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
	return fnmatch(pattern, line.p, 0) == 0;
}

int32_t as_seek_process(const struct as_env *env, const char *pattern)
{
	as_auto_folder struct as_folder f = {.fd = as_folder_open(env->proc, ".")};
	as_auto_buf struct as_buf anywhere = AS_BUF(AS_BUF_LINE);
	struct as_proc_stat st, best = {0};

	as_buf_fmt(&anywhere, "*%s*", pattern);
	for (const struct dirent *e; !anywhere.bad && (e = as_folder_next(&f));) {
		size_t len = strlen(e->d_name);
		uint64_t pid = 0;

		if (as_scan_u64(e->d_name, len, &pid) != len || pid > INT32_MAX ||
		    !matches(env, (int32_t)pid, anywhere.p) || !read_stat(env, (int32_t)pid, &st) ||
		    leads_to_us(env, st.pid))
			continue;
		if (!best.pid || st.start < best.start)
			best = st;
	}
	return best.pid;
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
