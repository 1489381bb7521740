#include "cli/offspring.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/num.h"

/* Python's multiprocessing starts one before its workers: it waits for their end, and cleans up. */
static bool is_tracker(const struct as_env *env, int pid)
{
	static const char sign[] = "multiprocessing.resource_tracker";
	char path[64], line[512];
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/cmdline", pid);
	return as_read_at(env->proc, path, line, sizeof line, &n, &ignored) == AS_OK &&
	       memmem(line, n, sign, sizeof sign - 1);
}

/*
 * "8059 8060": processes that its first thread has started, as those of servers do; or "".
 * Of many the first.
 */
static void children_of(const struct as_env *env, int pid, struct as_buf *ret)
{
	enum { NAMED = 48 }; /* bytes of the hint */
	char path[64], text[4 * NAMED] = "";
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task/%d/children", pid, pid);
	if (!pid || as_read_at(env->proc, path, text, sizeof text, &n, &ignored) < 0)
		return;
	for (size_t at = 0, used; at < n; at += used + 1) {
		uint64_t child;

		used = as_scan_u64(text + at, n - at, &child);
		if (used && ret->len > NAMED)
			as_buf_str(ret, " …");
		if (!used || ret->len > NAMED)
			return;
		if (!is_tracker(env, (int)child))
			as_buf_fmt(ret, "%s%d", ret->len ? " " : "", (int)child);
	}
}

bool as_offspring_hint(const struct as_env *env, int pid, const char *advice, struct as_err *err)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);
	size_t n = strlen(advice);

	children_of(env, pid, &b);
	if (!b.len)
		return false;
	const char *workers = as_buf_text(&b);
	bool named = n && advice[n - 1] == ' ';
	(void)as_hint(err, "it has started %s, which may do the work: %s%.*s", workers, advice,
		      named ? (int)strcspn(workers, " ") : 0, workers);
	return true;
}
