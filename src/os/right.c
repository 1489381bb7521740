#include "os/right.h"

#include <stdio.h>

#include "base/num.h"
#include "os/text.h"

enum { PTRACE = 19 }; /* CAP_SYS_PTRACE */

/* Who somebody is, as far as /proc tells. */
struct who {
	int64_t uid; /* AS_TEXT_NA: unknown */
	uint64_t caps;
};

static struct who read_who(const struct as_env *env, const char *pid)
{
	struct who w = {AS_TEXT_NA, 0};
	struct as_span rest, line;
	char path[32], text[8192];
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%s/status", pid);
	if (as_read_at(env->proc, path, text, sizeof text, &n, &ignored) < 0)
		return w;
	rest = as_span(text, n);
	while (as_span_cut(&rest, '\n', &line)) {
		if (w.uid == AS_TEXT_NA)
			w.uid = as_span_keyed(line, "Uid", 3);
		if (line.n > 8 && !memcmp(line.p, "CapEff:\t", 8))
			(void)as_scan_hex(line.p + 8, line.n - 8, &w.caps);
	}
	return w;
}

static int64_t scope_of(const struct as_env *env)
{
	struct as_err ignored;
	char text[16];
	size_t n = 0;

	if (as_read_at(env->proc, "sys/kernel/yama/ptrace_scope", text, sizeof text, &n, &ignored) <
	    0)
		return 0;
	return as_span_number(as_span(text, n));
}

/* Of a process of our own user. */
static int hint_own(int64_t scope, bool root, struct as_err *err)
{
	if (scope == 1)
		return as_hint(err, "Yama lets only its ancestors look at it: sudo sysctl "
				    "kernel.yama.ptrace_scope=0, or be root");
	if (scope == 2)
		return as_hint(err, "Yama lets only root look at it: sudo sysctl "
				    "kernel.yama.ptrace_scope=0, or be root");
	if (root)
		return as_hint(err, "it is in another user namespace, or a security module "
				    "forbids it");
	return as_hint(err, "it has more rights than you, or has made itself undumpable: be root");
}

int as_right_hint(const struct as_env *env, pid_t pid, struct as_err *err)
{
	char name[16];

	(void)snprintf(name, sizeof name, "%d", (int)pid);
	struct who we = read_who(env, "self"), it = read_who(env, name);
	int64_t scope = scope_of(env);

	if (scope == 3)
		return as_hint(err, "Yama's ptrace_scope is 3: nobody may, until this machine is "
				    "started anew with less");
	if (!we.uid && !(we.caps >> PTRACE & 1))
		return as_hint(err, "this root has not the capability for it, as in a container: "
				    "start that with --cap-add SYS_PTRACE");
	if (we.uid && it.uid != AS_TEXT_NA && we.uid != it.uid)
		return as_hint(err,
			       "it belongs to uid %lld: be that user, be root, or have "
			       "CAP_SYS_PTRACE",
			       (long long)it.uid);
	return hint_own(we.uid ? scope : 0, !we.uid, err);
}
