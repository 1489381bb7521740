#include "os/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/fault.h"
#include "os/cgtext.h"
#include "os/cgwhere.h"

#define PREFIX "assay-"

static const char *const names[AS_CG_NPARTS] = {
	[AS_CG_V2] = "v2",         [AS_CG_CPUACCT] = "cpuacct", [AS_CG_CPU] = "cpu",
	[AS_CG_MEMORY] = "memory", [AS_CG_BLKIO] = "blkio",     [AS_CG_PIDS] = "pids",
};

static void clear(struct as_cgroup *cg)
{
	*cg = (struct as_cgroup){.live = true, .quota = -1, .procs = -1};
	for (size_t i = 0; i < AS_CG_NPARTS; i++)
		cg->dir[i] = cg->join[i] = -1;
}

/* Add a remark to `why`, if there is room for the whole of it. */
__attribute__((format(printf, 2, 3))) static void note(struct as_cgroup *cg, const char *fmt, ...)
{
	size_t len = strlen(cg->why);
	char more[80];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(more, sizeof more, fmt, ap);
	va_end(ap);
	if (len + 2 + strlen(more) < sizeof cg->why)
		(void)snprintf(cg->why + len, sizeof cg->why - len, "%s%s", len ? "; " : "", more);
}

static int open_dir(int at, const char *path)
{
	return as_openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* ── making ───────────────────────────────────────────────────────────── */

static bool is_empty(int dir, const char *file)
{
	struct as_err err;
	char text[64];
	size_t n = 0;

	return as_read_at(dir, file, text, sizeof text, &n, &err) < 0 || n == 0;
}

/*
 * Two old hierarchies can be set so that a group is not bound by the limits
 * of the group above it. A job must not slip out of its limits because it is
 * being measured: the reason not to make a group below `dir`, or NULL.
 */
static const char *unbound(int dir, enum as_cg_part part)
{
	static const char *const throttles[] = {"blkio.throttle.read_bps_device",
						"blkio.throttle.write_bps_device",
						"blkio.throttle.read_iops_device",
						"blkio.throttle.write_iops_device"};
	struct as_err err;
	char text[16];
	size_t n = 0;

	if (part == AS_CG_MEMORY && !as_cg_is_root(dir, false) &&
	    as_read_at(dir, "memory.use_hierarchy", text, sizeof text, &n, &err) == AS_OK &&
	    text[0] == '0')
		return "its limit would not bind the job (use_hierarchy)";
	for (size_t i = 0; part == AS_CG_BLKIO && i < AS_LEN(throttles); i++)
		if (!is_empty(dir, throttles[i]))
			return "its limits would not bind the job";
	return NULL;
}

/*
 * Newer kernels count the bytes of v1 blkio only once a limit is set: not even
 * the root group then has a line for any device. A group that would tell 0 of
 * everything is worse than none.
 */
static bool counts(const struct as_env *env, const struct as_cg_place *place, enum as_cg_part part)
{
	struct as_err err;
	char text[64] = "";
	size_t n = 0;

	if (part != AS_CG_BLKIO)
		return true;
	as_auto_free char *mount = as_strndup(place->path, place->mount);
	as_auto_fd int root = mount ? open_dir(env->cgroup, mount) : -1;
	return as_read_at(root, "blkio.throttle.io_service_bytes", text, sizeof text, &n, &err) ==
		       AS_OK &&
	       text[0] >= '0' && text[0] <= '9';
}

/* Is the open folder still the one of that name, or was it removed and made anew? */
static bool still(int dir, int at, const char *path)
{
	struct stat is, named;

	return fstat(dir, &is) == 0 && as_fstatat(at, path, &named) == 0 &&
	       is.st_ino == named.st_ino;
}

/*
 * Make the folder and hold a lock on it, by which a sweeper knows that the
 * group, though empty, is in use. A sweeper may have been quicker: try again.
 */
static int create(const struct as_env *env, const char *path)
{
	for (int tries = 0; tries < 5; tries++) {
		if (mkdirat(env->cgroup, path, 0755) < 0)
			return -1;
		as_auto_fd int dir = open_dir(env->cgroup, path);
		if (dir >= 0 && flock(dir, LOCK_SH) == 0 && still(dir, env->cgroup, path))
			return as_take_fd(dir);
		(void)unlinkat(env->cgroup, path, AT_REMOVEDIR);
	}
	errno = EBUSY;
	return -1;
}

/* In v1 the file `tasks` moves a lone thread without stopping the machine (see the header). */
static const char *join_file(enum as_cg_part part)
{
	return part == AS_CG_V2 ? "cgroup.procs" : "tasks";
}

static void drop(const struct as_env *env, struct as_cgroup *cg, enum as_cg_part part)
{
	if (cg->made[part])
		(void)unlinkat(env->cgroup, cg->path[part], AT_REMOVEDIR);
	as_close_(&cg->join[part]);
	as_close_(&cg->dir[part]);
	cg->join[part] = cg->dir[part] = -1;
	free(as_take(cg->path[part]));
	cg->made[part] = false;
}

static int make_at(const struct as_env *env, const struct as_cg_place *place, enum as_cg_part part,
		   const char *id, struct as_cgroup *cg, struct as_err *err)
{
	as_auto_buf struct as_buf path = AS_BUF(AS_BUF_LINE);

	as_buf_fmt(&path, "%s/" PREFIX "%s", place->path, id);
	if (path.bad)
		return as_fail(err, AS_ENOMEM, "make a control group");
	int dir = create(env, path.p);
	if (dir < 0) {
		note(cg, "%s: %s", names[part], strerror(errno));
		return AS_OK;
	}
	cg->dir[part] = dir;
	cg->path[part] = as_buf_take(&path);
	cg->made[part] = true;
	cg->join[part] = as_openat(dir, join_file(part), O_WRONLY | O_CLOEXEC);
	if (cg->join[part] < 0) {
		note(cg, "%s: %s", names[part], strerror(errno));
		drop(env, cg, part);
	}
	return AS_OK;
}

/* The same folder under another name: "cpu" beside "cpuacct". */
static int make_alias(struct as_cgroup *cg, enum as_cg_part part, enum as_cg_part first,
		      struct as_err *err)
{
	if (!cg->path[first])
		return AS_OK;
	char *path = as_strdup(cg->path[first]);
	if (!path)
		return as_fail(err, AS_ENOMEM, "make a control group");
	cg->path[part] = path;
	cg->dir[part] = fcntl(cg->dir[first], F_DUPFD_CLOEXEC, 0);
	return AS_OK;
}

/*
 * A group of its own in `cpu` would change how the job shares the CPUs with
 * its neighbours (one weight for the group, not one for each thread), and tell
 * nothing: a quota stands in a group above. `pids` is made for want of better,
 * because any group can list its processes.
 */
static bool not_needed(enum as_cg_part part, const struct as_cgroup *cg)
{
	return part == AS_CG_CPU || (part == AS_CG_PIDS && cg->own);
}

/*
 * Remove the empty groups of dead runs in a folder, and in those groups first.
 * True when there was any group of a run, dead or alive.
 */
static bool sweep_in(int parent, int depth)
{
	int again = open_dir(parent, ".");
	as_auto_dir DIR *d = again < 0 ? NULL : fdopendir(again);
	bool any = false;

	if (!d) {
		as_close_(&again);
		return false;
	}
	for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		any = true;
		as_auto_fd int dir = open_dir(parent, e->d_name);
		if (dir < 0 || flock(dir, LOCK_EX | LOCK_NB) < 0 || !still(dir, parent, e->d_name))
			continue; /* its assay lives: see create() */
		if (depth > 0)
			(void)sweep_in(dir, depth - 1);
		(void)unlinkat(parent, e->d_name, AT_REMOVEDIR);
	}
	return any;
}

enum { SWEEP_DEPTH = 4 }; /* assay within assay within … */

static int make_part(const struct as_env *env, const struct as_cg_places *places,
		     enum as_cg_part part, const char *id, struct as_cgroup *cg, struct as_err *err)
{
	const struct as_cg_place *place = &places->part[part];

	if (!place->path)
		return AS_OK;
	enum as_cg_part first = as_cg_first(places, part);
	if (first != part)
		return make_alias(cg, part, first, err);
	if (not_needed(part, cg))
		return AS_OK;
	as_auto_fd int above = open_dir(env->cgroup, place->path);
	const char *reason = above < 0                   ? strerror(errno)
			     : place->shared             ? "mounted together with others"
			     : !counts(env, place, part) ? "this kernel counts nothing there"
							 : unbound(above, part);
	if (reason) {
		note(cg, "%s: %s", names[part], reason);
		return AS_OK;
	}
	(void)sweep_in(above, SWEEP_DEPTH);
	int r = make_at(env, place, part, id, cg, err);
	cg->own |= cg->made[part];
	return r;
}

/* ── v2: controllers ──────────────────────────────────────────────────── */

/* "cpuset cpu io memory pids" */
static bool file_has(int dir, const char *file, const char *word)
{
	struct as_span line = {0}, one;
	struct as_err err;
	char text[256];
	size_t n = 0;

	if (as_read_at(dir, file, text, sizeof text, &n, &err) < 0)
		return false;
	for (struct as_span rest = as_span(text, n); as_span_cut(&rest, '\n', &line);)
		while (as_span_word(&line, &one))
			if (as_span_is(one, word))
				return true;
	return false;
}

/*
 * Have memory and I/O counted for the groups below the root, where nobody did
 * so yet. Only there: anywhere else it would change the caller's own group.
 * Never `cpu`: that would change the scheduling of all its groups.
 */
static void enable(int root)
{
	static const char *const wanted[] = {"memory", "io", "pids"};

	for (size_t i = 0; i < AS_LEN(wanted); i++) {
		char word[16];
		int n = snprintf(word, sizeof word, "+%s", wanted[i]);

		if (!file_has(root, "cgroup.controllers", wanted[i]) ||
		    file_has(root, "cgroup.subtree_control", wanted[i]))
			continue;
		as_auto_fd int fd = as_openat(root, "cgroup.subtree_control", O_WRONLY | O_CLOEXEC);
		if (fd >= 0)
			(void)!write(fd, word, (size_t)n);
	}
}

static void enable_controllers(const struct as_env *env, const struct as_cg_places *places)
{
	const struct as_cg_place *place = &places->part[AS_CG_V2];
	as_auto_fd int dir = place->path ? open_dir(env->cgroup, place->path) : -1;

	if (dir >= 0 && as_cg_is_root(dir, true))
		enable(dir);
}

static bool has_file(const struct as_cgroup *cg, enum as_cg_part part, const char *file)
{
	return cg->dir[part] >= 0 && faccessat(cg->dir[part], file, F_OK, 0) == 0;
}

/* Say which accounts the job's group does not keep, unless it was said already. */
static void note_missing(struct as_cgroup *cg)
{
	if (!cg->own)
		return;
	if (cg->dir[AS_CG_MEMORY] < 0 && !has_file(cg, AS_CG_V2, "memory.current") &&
	    !strstr(cg->why, "memory:"))
		note(cg, "memory: not counted for groups here");
	if (cg->dir[AS_CG_BLKIO] < 0 && !has_file(cg, AS_CG_V2, "io.stat") &&
	    !strstr(cg->why, "blkio:"))
		note(cg, "io: not counted for groups here");
}

/* ── the whole group ──────────────────────────────────────────────────── */

static int make_all(const struct as_env *env, const struct as_cg_places *places, const char *id,
		    struct as_cgroup *ret, struct as_err *err)
{
	int r = AS_OK;

	enable_controllers(env, places);
	for (enum as_cg_part i = 0; i < AS_CG_NPARTS && !r; i++)
		r = make_part(env, places, i, id, ret, err);
	if (r < 0) {
		as_cgroup_done(env, ret);
		clear(ret);
		return r;
	}
	if (ret->dir[AS_CG_V2] >= 0)
		ret->procs = as_openat(ret->dir[AS_CG_V2], "cgroup.procs", O_RDONLY | O_CLOEXEC);
	note_missing(ret);
	return AS_OK;
}

int as_cgroup_make(const struct as_env *env, const char *id, struct as_cgroup *ret,
		   struct as_err *err)
{
	as_auto_places struct as_cg_places places = {0};

	clear(ret);
	int r = as_cg_where(env, 0, &places, err);
	if (r == AS_OK)
		r = as_cg_limits(env, &places, &ret->limits, err);
	if (r < 0)
		return r;
	if (places.why[0])
		note(ret, "%s", places.why);
	else if (env->fixture)
		note(ret, "a captured tree is only read");
	else
		r = make_all(env, &places, id, ret, err);
	if (r == AS_OK)
		as_cg_find_quota(env, &places, ret);
	return r;
}

int as_cgroup_of(const struct as_env *env, int pid, struct as_cgroup *ret, struct as_err *err)
{
	as_auto_places struct as_cg_places places = {0};

	clear(ret);
	int r = as_cg_where(env, pid, &places, err);
	if (r == AS_OK)
		r = as_cg_limits(env, &places, &ret->limits, err);
	if (r < 0)
		return r;
	(void)snprintf(ret->why, sizeof ret->why, "%s", places.why);
	as_cg_find_quota(env, &places, ret);
	for (enum as_cg_part i = 0; i < AS_CG_NPARTS; i++) {
		const char *path = places.part[i].path;
		as_auto_fd int dir = path ? open_dir(env->cgroup, path) : -1;

		if (dir < 0 || as_cg_is_root(dir, i == AS_CG_V2) ||
		    !counts(env, &places.part[i], i))
			continue;
		ret->path[i] = as_take(places.part[i].path);
		ret->dir[i] = as_take_fd(dir);
	}
	if (ret->dir[AS_CG_V2] >= 0)
		ret->procs = as_openat(ret->dir[AS_CG_V2], "cgroup.procs", O_RDONLY | O_CLOEXEC);
	return AS_OK;
}

/* ── joining ──────────────────────────────────────────────────────────── */

static bool join_from(const struct as_cgroup *cg, enum as_cg_part first)
{
	bool all = true;

	for (enum as_cg_part i = first; i < AS_CG_NPARTS; i++)
		if (cg->made[i])
			all &= write(cg->join[i], "0", 1) == 1; /* "0": the writer itself */
	return all;
}

bool as_cgroup_join(const struct as_cgroup *cg)
{
	return join_from(cg, 0);
}

/* How many writes join_from() makes. */
static int32_t count_from(const struct as_cgroup *cg, enum as_cg_part first)
{
	int32_t n = 0;

	for (enum as_cg_part i = first; i < AS_CG_NPARTS; i++)
		n += cg->made[i];
	return n;
}

pid_t as_cgroup_fork(struct as_cgroup *cg, bool *joined)
{
	bool born_in = cg && cg->made[AS_CG_V2];
	pid_t pid = -1;

	if (born_in) {
		struct clone_args how = {.flags = CLONE_INTO_CGROUP,
					 .exit_signal = SIGCHLD,
					 .cgroup = (uint64_t)cg->dir[AS_CG_V2]};

		pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
	}
	if (pid < 0) { /* Linux before 5.7, or a sandbox that does not know clone3 */
		born_in = false;
		pid = fork();
	}
	if (pid == 0)
		*joined = !cg || (born_in ? join_from(cg, AS_CG_V2 + 1) : as_cgroup_join(cg));
	else if (cg)
		cg->joins = count_from(cg, born_in ? AS_CG_V2 + 1 : AS_CG_V2);
	return pid;
}

void as_cgroup_verify(const struct as_env *env, struct as_cgroup *cg, int pid)
{
	as_auto_places struct as_cg_places now = {0};
	struct as_err err;

	if (!cg->own || as_cg_where(env, pid, &now, &err) < 0)
		return;
	cg->own = false;
	for (enum as_cg_part i = 0; i < AS_CG_NPARTS; i++) {
		if (!cg->path[i])
			continue;
		if (now.part[i].path && !strcmp(now.part[i].path, cg->path[i])) {
			cg->own = true;
			continue;
		}
		note(cg, "%s: the job was not let in", names[i]);
		drop(env, cg, i);
	}
}

/* ── its processes ────────────────────────────────────────────────────── */

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/* v2 may list a process twice when it moves while we read. */
static size_t unique(int32_t *pids, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(pids, n, sizeof *pids, by_value);
	for (size_t i = 0; i < n; i++)
		if (!i || pids[i] != pids[i - 1])
			pids[kept++] = pids[i];
	return kept;
}

struct listing {
	int32_t *pids;
	size_t max, n, stored;
	uint64_t open; /* a number whose end is in the next piece */
	bool digits;
};

static void end_number(struct listing *l)
{
	if (l->digits && l->open && l->open <= INT32_MAX) { /* 0: not in our pid namespace */
		if (l->stored < l->max)
			l->pids[l->stored++] = (int32_t)l->open;
		l->n++;
	}
	l->open = 0;
	l->digits = false;
}

static void list_piece(struct listing *l, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9') {
			end_number(l);
		} else {
			l->open = l->open > INT32_MAX ? l->open
						      : l->open * 10 + (uint64_t)(p[i] - '0');
			l->digits = true;
		}
	}
}

static int list(int fd, struct listing *l, struct as_err *err)
{
	char text[8192];
	off_t at = 0;

	for (;;) {
		ssize_t n = as_pread(fd, text, sizeof text, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return as_fail_errno(err, errno, "read cgroup.procs");
		if (n == 0)
			break;
		list_piece(l, text, (size_t)n);
		at += n;
	}
	end_number(l);
	return AS_OK;
}

int as_cgroup_pids(const struct as_cgroup *cg, int32_t *pids, size_t max, size_t *ret_n,
		   struct as_err *err)
{
	struct listing l = {.pids = pids, .max = max};
	as_auto_fd int old = -1;

	/*
	 * v1 keeps the list that a descriptor has once read for as long as it is
	 * read again within a second: it must be opened anew each time.
	 */
	for (size_t i = AS_CG_V2 + 1; cg->procs < 0 && old < 0 && i < AS_CG_NPARTS; i++)
		if (cg->dir[i] >= 0)
			old = as_openat(cg->dir[i], "cgroup.procs", O_RDONLY | O_CLOEXEC);
	if (cg->procs < 0 && old < 0)
		return as_fail(err, AS_EUNSUP, "no control group that lists its processes");
	int r = list(cg->procs >= 0 ? cg->procs : old, &l, err);
	if (r < 0)
		return r;
	size_t kept = unique(pids, l.stored);
	*ret_n = l.n - (l.stored - kept);
	return AS_OK;
}

/* ── removing ─────────────────────────────────────────────────────────── */

/*
 * The last process of a group can be reaped a moment before the kernel has
 * taken it out of the group: when no process is listed, wait that moment.
 */
static void remove_group(const struct as_env *env, const struct as_cgroup *cg, enum as_cg_part part)
{
	const struct timespec moment = as_timespec(AS_MSEC);

	for (int tries = 0; tries < 20; tries++) {
		if (unlinkat(env->cgroup, cg->path[part], AT_REMOVEDIR) == 0 || errno != EBUSY ||
		    !is_empty(cg->dir[part], "cgroup.procs"))
			return;
		if (!sweep_in(cg->dir[part], SWEEP_DEPTH)) /* what a run within the job left */
			(void)nanosleep(&moment, NULL);
	}
}

void as_cgroup_done(const struct as_env *env, struct as_cgroup *cg)
{
	if (!cg->live)
		return;
	for (enum as_cg_part i = 0; i < AS_CG_NPARTS; i++) {
		if (cg->made[i])
			remove_group(env, cg, i);
		cg->made[i] = false;
		drop(env, cg, i);
	}
	as_close_(&cg->procs);
	as_close_(&cg->quota);
	*cg = (struct as_cgroup){0};
}
