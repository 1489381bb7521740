#include "os/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/bpf.h"
#include "os/cgwhere.h"
#include "os/life.h"
#include "os/text.h"
#include "os/try.h"

/* ── reading ──────────────────────────────────────────────────────────── */

enum { LINE = 512, PAGE = 4096 };

/* A small file below /proc; false when it cannot be read. */
static bool slurp(const struct as_env *env, const char *path, char *text, size_t size)
{
	struct as_err ignored;
	size_t n = 0;

	return as_read_at(env->proc, path, text, size, &n, &ignored) == AS_OK;
}

/* Its first line. */
static bool first_line(const struct as_env *env, const char *path, char text[static LINE])
{
	if (!slurp(env, path, text, LINE))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* The number in a file of one number, such as -1 or 2; AS_TEXT_NA when there is none. */
static int64_t number(const struct as_env *env, const char *path)
{
	char text[LINE];
	int64_t v = AS_TEXT_NA;

	if (first_line(env, path, text))
		(void)as_scan_i64(text, strlen(text), &v);
	return v;
}

/* What follows `key` on its line, without blanks before it. */
static struct as_span after(const char *text, const char *key)
{
	struct as_span rest = as_span_of(text), line;

	while (as_span_cut(&rest, '\n', &line))
		if (as_span_starts(line, key))
			return as_span_skip_blanks(as_span_skip(line, strlen(key)));
	return as_span_of("");
}

__attribute__((format(printf, 3, 4))) static void say(struct as_finding *f, enum as_state state,
						      const char *fmt, ...)
{
	va_list ap;

	f->state = state;
	va_start(ap, fmt);
	(void)vsnprintf(f->detail, sizeof f->detail, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void fix(struct as_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(f->fix, sizeof f->fix, fmt, ap);
	va_end(ap);
}

/* ── who asks ─────────────────────────────────────────────────────────── */

enum cap {
	DAC_OVERRIDE = 1,
	NET_ADMIN = 12,
	SYS_PTRACE = 19,
	SYS_ADMIN = 21,
	PERFMON = 38,
	BPF = 39,
};

/* setcap replaces what was set before, so every row must ask for all of them. */
#define SETCAP                                                                                     \
	"sudo setcap cap_bpf,cap_net_admin,cap_perfmon,cap_sys_ptrace+ep \"$(command -v assay)\""

static bool has(const struct as_caller *who, enum cap cap)
{
	return who->caps >> cap & 1;
}

/* A capability that the kernel wants of the machine's own root, not a container's. */
static bool has_outside(const struct as_caller *who, enum cap cap)
{
	return !who->contained && (has(who, cap) || (cap != NET_ADMIN && has(who, SYS_ADMIN)));
}

/* In a captured tree the modes of files mean nothing: there root may write and others may not. */
static bool may_write(const struct as_caller *who, const char *path)
{
	if (who->env->fixture)
		return has(who, DAC_OVERRIDE) &&
		       faccessat(who->env->cgroup, path, F_OK, AT_EACCESS) == 0;
	return faccessat(who->env->cgroup, path, W_OK | X_OK, AT_EACCESS) == 0;
}

static bool lists(int dir, const char *file, const char *word)
{
	struct as_err ignored;
	struct as_span rest, one;
	char text[LINE];
	size_t n = 0;

	if (as_read_at(dir, file, text, sizeof text, &n, &ignored) < 0)
		return false;
	rest = as_span(text, strcspn(text, "\n"));
	while (as_span_word(&rest, &one))
		if (as_span_is(one, word))
			return true;
	return false;
}

/* Would a group that we make keep this account? Below the root assay switches it on itself. */
static bool v2_counts(const struct as_env *env, const char *path, const char *controller)
{
	as_auto_fd int dir = openat(env->cgroup, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return false;
	return lists(dir, "cgroup.subtree_control", controller) ||
	       (as_cg_is_root(dir, true) && lists(dir, "cgroup.controllers", controller));
}

static void count_part(struct as_caller *who, enum as_cg_part part, const char *path)
{
	bool v2 = part == AS_CG_V2;

	who->group.some = true;
	if (!may_write(who, path))
		return;
	who->group.can = true;
	who->group.cpu |= v2 || part == AS_CG_CPUACCT;
	who->group.memory |= part == AS_CG_MEMORY || (v2 && v2_counts(who->env, path, "memory"));
	who->group.io |= part == AS_CG_BLKIO || (v2 && v2_counts(who->env, path, "io"));
}

static int read_groups(struct as_caller *who, struct as_err *err)
{
	as_auto_places struct as_cg_places places = {0};
	int r = as_cg_where(who->env, 0, &places, err);

	for (enum as_cg_part i = 0; r == AS_OK && i < AS_CG_NPARTS; i++)
		if (places.part[i].path)
			count_part(who, i, places.part[i].path);
	return r;
}

/* "hidepid=2" among options, as newer kernels spell it too. */
static int hidepid_of(struct as_span options)
{
	static const char *const words[][2] = {{"hidepid=0", "hidepid=off"},
					       {"hidepid=1", "hidepid=noaccess"}};
	int level = 0;

	for (struct as_span one; as_span_cut(&options, ',', &one);) {
		if (!as_span_starts(one, "hidepid="))
			continue;
		level = 2;
		for (int i = 0; i < 2; i++)
			if (as_span_is(one, words[i][0]) || as_span_is(one, words[i][1]))
				level = i;
	}
	return level;
}

static int read_hidepid(struct as_caller *who, struct as_err *err)
{
	as_auto_buf struct as_buf text = AS_BUF(AS_BUF_FILE);
	struct as_span rest, line, word[4];
	int r = as_read_all(who->env->proc, "self/mounts", &text, err);

	if (r < 0)
		return r == AS_ENOMEM ? r : AS_OK; /* where nothing is known, nothing is hidden */
	rest = as_span(as_buf_text(&text), text.len);
	while (as_span_cut(&rest, '\n', &line)) {
		for (size_t i = 0; i < AS_LEN(word); i++)
			(void)as_span_word(&line, &word[i]);
		if (as_span_is(word[1], "/proc") && as_span_is(word[2], "proc"))
			who->hidepid = hidepid_of(word[3]); /* the last mount covers the others */
	}
	return AS_OK;
}

static void read_self(struct as_caller *who)
{
	char text[PAGE];

	if (slurp(who->env, "self/status", text, sizeof text)) {
		struct as_span caps = after(text, "CapEff:");

		who->uid = as_span_number(after(text, "Uid:"));
		(void)as_scan_hex(caps.p, caps.n, &who->caps);
	}
	/* The whole range of ids mapped onto itself is the machine, anything else a namespace. */
	if (first_line(who->env, "self/uid_map", text)) {
		struct as_span rest = as_span_of(text), word[3];

		for (size_t i = 0; i < AS_LEN(word); i++)
			(void)as_span_word(&rest, &word[i]);
		who->contained = !as_span_is(word[0], "0") || !as_span_is(word[1], "0") ||
				 !as_span_is(word[2], "4294967295");
	}
}

int as_caller(const struct as_env *env, struct as_caller *ret, struct as_err *err)
{
	*ret = (struct as_caller){.env = env, .uid = AS_TEXT_NA};
	read_self(ret);
	int r = read_hidepid(ret, err);
	return r < 0 ? r : read_groups(ret, err);
}

const char *as_state_name(enum as_state state)
{
	static const char *const names[] = {
		[AS_STATE_NO] = "no", [AS_STATE_PARTLY] = "partly", [AS_STATE_YES] = "yes"};

	return names[state];
}

/* ── the ladder ───────────────────────────────────────────────────────── */

static void look_cgroup(const struct as_caller *who, struct as_finding *f)
{
	static const char *const counted[] = {
		"nothing is", "CPU is",          "memory is",          "CPU and memory are",
		"I/O is",     "CPU and I/O are", "memory and I/O are", "CPU, memory and I/O"};
	bool all = who->group.cpu && who->group.memory && who->group.io;

	if (!who->group.some) {
		say(f, AS_STATE_NO, "no control groups are mounted");
		fix(f, "sudo mount -t cgroup2 none /sys/fs/cgroup");
		return;
	}
	if (!who->group.can) {
		say(f, AS_STATE_NO, "this user may not make a group below its own");
		fix(f, "%s",
		    who->uid == 0
			    ? ""
			    : "systemd-run --user --scope -p Delegate=yes assay run -- COMMAND");
	} else {
		say(f, all ? AS_STATE_YES : AS_STATE_PARTLY, "%s%s",
		    counted[who->group.cpu | who->group.memory << 1 | who->group.io << 2],
		    all ? "" : " counted there; the rest comes from /proc");
	}
}

/* Would our own programs be of use here, if the kernel takes them? */
static int bpf_of_use(const struct as_caller *who, struct as_err *err)
{
	if (who->env->fixture)
		return AS_OK;
	return as_life_bpf.drain ? as_bpf_check(who->env, err) : as_bpf_missing(err);
}

static void look_bpf(const struct as_caller *who, struct as_finding *f)
{
	struct as_err err = {0};
	bool btf = faccessat(who->env->sys, "kernel/btf/vmlinux", F_OK, 0) == 0;
	bool caps = has_outside(who, BPF) && has_outside(who, PERFMON);
	int refused = caps && !who->env->fixture ? as_try_bpf() : 0;

	if (!caps) {
		say(f, AS_STATE_NO, "%s",
		    who->contained ? "in a container: the machine's root would have to allow it"
				   : "needs CAP_BPF and CAP_PERFMON");
		fix(f, "%s", who->contained ? "" : SETCAP);
	} else if (refused) {
		say(f, AS_STATE_NO, "refused: %s; a container's filter, or kernel lockdown",
		    strerror(refused));
	} else if (bpf_of_use(who, &err) < 0) {
		say(f, AS_STATE_NO, "%s", err.msg);
		fix(f, "%s", err.hint);
	} else if (!btf) {
		say(f, AS_STATE_PARTLY, "allowed, but the kernel has no /sys/kernel/btf/vmlinux");
		fix(f, "use a kernel built with CONFIG_DEBUG_INFO_BTF=y");
	} else {
		say(f, AS_STATE_YES, "programs may be loaded, types are known");
	}
}

static void look_exits(const struct as_caller *who, struct as_finding *f)
{
	bool admin = has_outside(who, NET_ADMIN);
	int refused = admin ? 0 : EPERM; /* what a captured tree would say */

	if (!who->env->fixture)
		refused = as_try_proc_connector(who->env);
	f->starved = refused == ENOMEM;
	if (admin && !refused) {
		say(f, AS_STATE_YES, "process events and taskstats");
		return;
	}
	if (!refused) {
		say(f, AS_STATE_PARTLY, "births and ends; what each used needs CAP_NET_ADMIN");
		fix(f, "%s", SETCAP);
		return;
	}
	if (refused && admin)
		say(f, AS_STATE_NO, "the proc connector refuses: %s", strerror(refused));
	else
		say(f, AS_STATE_NO, "needs CAP_NET_ADMIN%s",
		    who->contained ? " of the machine, not of a container" : "");
	fix(f, "%s", who->contained || admin ? "" : SETCAP);
}

static void look_perf(const struct as_caller *who, struct as_finding *f)
{
	int64_t paranoid = number(who->env, "sys/kernel/perf_event_paranoid");

	if (paranoid == AS_TEXT_NA) {
		say(f, AS_STATE_NO, "the kernel was built without perf events");
		return;
	}
	bool allowed =
		who->env->fixture ? paranoid <= 2 || has_outside(who, PERFMON) : as_try_perf() == 0;
	say(f, allowed ? AS_STATE_YES : AS_STATE_NO, "%s (kernel.perf_event_paranoid=%lld)",
	    allowed ? "a clock for this user's jobs" : "refused", (long long)paranoid);
	if (!allowed)
		fix(f, "%s", paranoid <= 2 ? "" : "sudo sysctl kernel.perf_event_paranoid=2");
}

static void look_proc(const struct as_caller *who, struct as_finding *f)
{
	if (who->env->proc < 0) {
		say(f, AS_STATE_NO, "/proc is not mounted");
		fix(f, "sudo mount -t proc proc /proc");
	} else if (who->hidepid && !has(who, SYS_PTRACE)) {
		say(f, AS_STATE_PARTLY,
		    "only this user's processes: /proc is mounted with hidepid=%d", who->hidepid);
		fix(f, "sudo mount -o remount,hidepid=0 /proc");
	} else if (!has(who, SYS_PTRACE)) {
		say(f, AS_STATE_YES,
		    "all of this user's processes; others' without their I/O and files");
	} else {
		say(f, AS_STATE_YES, "all processes");
	}
}

/* ── beside the ladder ────────────────────────────────────────────────── */

static void look_kernel(const struct as_caller *who, struct as_finding *f)
{
	char text[LINE];
	uint64_t major = 0, minor = 0;

	if (!first_line(who->env, "sys/kernel/osrelease", text)) {
		say(f, AS_STATE_NO, "/proc/sys/kernel/osrelease cannot be read");
		return;
	}
	size_t n = as_scan_u64(text, strlen(text), &major);
	if (text[n] == '.')
		(void)as_scan_u64(text + n + 1, strlen(text + n + 1), &minor);
	bool enough = major > 5 || (major == 5 && minor >= 3);
	say(f, enough ? AS_STATE_YES : AS_STATE_PARTLY, "Linux %.60s%s", text,
	    enough ? "" : "; attach needs 5.3 or later");
	fix(f, "%s", enough ? "" : "use Linux 5.3 or later");
}

static void look_psi(const struct as_caller *who, struct as_finding *f)
{
	static const char *const files[] = {"pressure/cpu", "pressure/memory", "pressure/io"};
	char text[LINE];
	size_t n = 0;

	for (size_t i = 0; i < AS_LEN(files); i++)
		n += first_line(who->env, files[i], text);
	say(f,
	    n == AS_LEN(files) ? AS_STATE_YES
	    : n                ? AS_STATE_PARTLY
			       : AS_STATE_NO,
	    n == AS_LEN(files) ? "cpu, memory, io" : "/proc/pressure is missing or empty");
	fix(f, "%s", n == AS_LEN(files) ? "" : "boot the kernel with psi=1");
}

static void look_schedstat(const struct as_caller *who, struct as_finding *f)
{
	char text[LINE];
	bool there = first_line(who->env, "self/schedstat", text);

	say(f, there ? AS_STATE_YES : AS_STATE_NO, "%s",
	    there ? "/proc/PID/schedstat" : "there is no /proc/PID/schedstat");
	fix(f, "%s", there ? "" : "use a kernel built with CONFIG_SCHED_INFO=y");
}

static void look_delay(const struct as_caller *who, struct as_finding *f)
{
	int64_t on = number(who->env, "sys/kernel/task_delayacct");

	if (on == AS_TEXT_NA) {
		say(f, AS_STATE_NO, "there is no kernel.task_delayacct (Linux before 5.14?)");
		fix(f, "boot the kernel with delayacct");
	} else {
		say(f, on ? AS_STATE_YES : AS_STATE_NO, "kernel.task_delayacct=%lld",
		    (long long)on);
		fix(f, "%s", on ? "" : "sudo sysctl kernel.task_delayacct=1");
	}
}

static void look_ptrace(const struct as_caller *who, struct as_finding *f)
{
	static const char *const allowed[] = {"all of this user's processes", "children only",
					      "needs CAP_SYS_PTRACE",
					      "nobody, until the next boot"};
	int64_t scope = number(who->env, "sys/kernel/yama/ptrace_scope");

	if (scope == AS_TEXT_NA)
		say(f, AS_STATE_YES, "%s (no Yama)",
		    has(who, SYS_PTRACE) ? "all processes" : allowed[0]);
	else if (scope >= 3)
		say(f, AS_STATE_NO, "%s (kernel.yama.ptrace_scope=3)", allowed[3]);
	else if (scope <= 0 || has(who, SYS_PTRACE))
		say(f, AS_STATE_YES, "%s (kernel.yama.ptrace_scope=%d)",
		    has(who, SYS_PTRACE) ? "all processes" : allowed[0], (int)scope);
	else
		say(f, scope == 1 ? AS_STATE_PARTLY : AS_STATE_NO,
		    "%s (kernel.yama.ptrace_scope=%d)", allowed[scope], (int)scope);
	if (f->state != AS_STATE_YES)
		fix(f, "%s", scope >= 3 ? "" : "sudo sysctl kernel.yama.ptrace_scope=0");
}

enum { FILES_ENOUGH = 4096 };

static void look_files(const struct as_caller *who, struct as_finding *f)
{
	char text[PAGE];
	struct as_span rest, word;
	int64_t soft, hard;

	if (!slurp(who->env, "self/limits", text, sizeof text)) {
		say(f, AS_STATE_NO, "/proc/self/limits cannot be read");
		return;
	}
	rest = after(text, "Max open files");
	soft = as_span_word(&rest, &word) && !as_span_is(word, "unlimited") ? as_span_number(word)
									    : INT64_MAX;
	hard = as_span_word(&rest, &word) && !as_span_is(word, "unlimited") ? as_span_number(word)
									    : INT64_MAX;
	if (soft >= FILES_ENOUGH) {
		say(f, AS_STATE_YES, "at most %lld at once", (long long)soft);
		return;
	}
	say(f, AS_STATE_PARTLY, "at most %lld at once; large jobs are read more slowly",
	    (long long)soft);
	if (hard > soft)
		fix(f, "ulimit -n %lld", (long long)(hard < 65536 ? hard : 65536));
}

static void look_clock(const struct as_caller *who, struct as_finding *f)
{
	char text[LINE], offsets[PAGE];
	bool boot = first_line(who->env, "sys/kernel/random/boot_id", text);
	bool shifted = slurp(who->env, "self/timens_offsets", offsets, sizeof offsets) &&
		       strpbrk(offsets, "123456789");

	if (!boot)
		say(f, AS_STATE_PARTLY, "the boot cannot be told from others: no boot_id");
	else if (shifted)
		say(f, AS_STATE_PARTLY, "in a time namespace: time since boot is shifted");
	else
		say(f, AS_STATE_YES, "boot %.8s…, no time namespace", text);
}

/* "/proc/.." is the root of this machine, and of a captured tree. */
static void look_docker(const struct as_caller *who, struct as_finding *f)
{
	static const char path[] = "../run/docker.sock";
	bool there = faccessat(who->env->proc, path, F_OK, 0) == 0;
	bool usable = there && (who->env->fixture ? has(who, DAC_OVERRIDE)
						  : faccessat(who->env->proc, path, R_OK | W_OK,
							      AT_EACCESS) == 0);

	if (!there)
		say(f, AS_STATE_NO, "there is no /run/docker.sock");
	else
		say(f, usable ? AS_STATE_YES : AS_STATE_NO, "/run/docker.sock%s",
		    usable ? "" : " is there, but not for this user");
	fix(f, "%s", there && !usable ? "sudo usermod -aG docker \"$USER\"" : "");
}

const struct as_probe as_probes[] = {
	{"cgroup", "own control group", "exact totals of a job, to the last child", 1, false,
	 look_cgroup},
	{"bpf", "BPF", "every exit seen, many processes read cheaply", 1, false, look_bpf},
	{"exits", "exit records", "what each process used, told at its end", 2, false, look_exits},
	{"perf", "perf events", "CPU time of children that nobody waits for", 3, false, look_perf},
	{"proc", "/proc", "the processes of a job, one by one", 4, false, look_proc},
	{"kernel", "kernel", "starting and following a job", 0, false, look_kernel},
	{"psi", "pressure (PSI)", "time lost waiting for CPU, memory or disks", 0, false, look_psi},
	{"schedstat", "wait for a CPU", "time that ready threads had to wait", 0, false,
	 look_schedstat},
	{"delays", "delay accounting", "time lost to swapping and disks", 0, true, look_delay},
	{"ptrace", "ptrace", "stacks and memory of running processes", 0, false, look_ptrace},
	{"files", "open files", "following many processes at once", 0, false, look_files},
	{"clock", "clocks", "runs told apart across boots", 0, false, look_clock},
	{"docker", "Docker", "containers by their names", 0, false, look_docker},
	{0},
};
