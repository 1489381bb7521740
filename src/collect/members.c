#include "collect/members.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/folder.h"

/* Descriptors that are left alone: BPF, the store, whatever is opened for a moment. */
enum { KEEP_FREE = 64, PIDS_FIRST = 256 };

/*
 * Those that are open by now: whoever started us may have left us some. Linux
 * before 6.2 does not tell: 0.
 */
static int descriptors(const struct as_env *env)
{
	struct stat st;

	return as_fstatat(env->proc, "self/fd", &st) == 0 ? (int)st.st_size : 0;
}

void as_members_init(struct as_members *m, const struct as_env *env)
{
	struct rlimit lim = {.rlim_cur = 1024};

	*m = (struct as_members){0};
	(void)getrlimit(RLIMIT_NOFILE, &lim);
	m->pool.keep = lim.rlim_cur > 1 << 20 ? 1 << 20 : (int)lim.rlim_cur;
	m->pool.keep -= KEEP_FREE + descriptors(env);
}

/* The first index whose pid is not below `pid`. */
static size_t place(const struct as_members *m, int32_t pid)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->v[mid]->pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct as_process *as_members_find(const struct as_members *m, int32_t pid)
{
	size_t i = place(m, pid);

	return i < m->n && m->v[i]->pid == pid ? m->v[i] : NULL;
}

struct as_process *as_members_born(struct as_members *m, const struct as_collect *c, int32_t pid)
{
	struct as_process *p = as_zalloc(sizeof *p);

	if (!p || !as_grow(&m->v, &m->cap, m->n, sizeof *m->v, 16)) {
		free(p);
		*c->starved = true;
		return NULL;
	}
	as_process_init(p, &m->pool, pid);
	size_t at = place(m, pid);
	memmove(m->v + at + 1, m->v + at, (m->n - at) * sizeof *m->v);
	m->v[at] = p;
	m->n++;
	m->ever++;
	return p;
}

static bool ended(const struct as_members *m, const struct as_collect *c,
		  const struct as_process *p)
{
	return m->ended &&
	       m->ended(m->ended_data, p->pid, p->stat.start * (AS_SECOND / c->env->hz));
}

struct as_process *as_members_add(struct as_members *m, const struct as_collect *c, int32_t pid,
				  bool midway)
{
	struct as_process *p = as_members_born(m, c, pid);
	struct as_err err;

	if (!p)
		return NULL;
	if (as_process_open(p, c, &m->pool, midway, &err) < 0 || ended(m, c, p)) {
		as_members_remove(m, p);
		m->ever--;
		return NULL;
	}
	const struct as_process *parent = as_members_find(m, p->stat.ppid);
	if (parent)
		p->parent = parent->instance;
	as_process_tell(p, c);
	return p;
}

void as_members_drop(struct as_members *m, size_t i)
{
	struct as_process *p = m->v[i];

	memmove(m->v + i, m->v + i + 1, (m->n - i - 1) * sizeof *m->v);
	m->n--;
	as_sums_leave(&m->sums, p);
	as_process_done(p, &m->pool);
	free(p);
}

void as_members_remove(struct as_members *m, struct as_process *p)
{
	as_members_drop(m, place(m, p->pid));
}

/* ── by control group ─────────────────────────────────────────────────── */

/* All pids of the group; the array grows until they fit. */
static int group_pids(struct as_members *m, const struct as_collect *c, size_t *ret_n,
		      struct as_err *err)
{
	for (;;) {
		int r = as_cgroup_pids(c->cgroup, m->pids, m->pids_cap, ret_n, err);

		if (r < 0 || *ret_n <= m->pids_cap)
			return r;
		size_t want = *ret_n + PIDS_FIRST;
		int32_t *p = as_realloc(m->pids, want * sizeof *p);
		if (!p)
			return as_fail(err, AS_ENOMEM, "no memory for %zu process ids", *ret_n);
		m->pids = p;
		m->pids_cap = want;
	}
}

static int by_group(struct as_members *m, const struct as_collect *c, bool midway,
		    struct as_err *err)
{
	size_t n = 0;
	int r = group_pids(m, c, &n, err);

	for (size_t i = 0; r == AS_OK && i < n; i++)
		if (!as_members_find(m, m->pids[i]))
			(void)as_members_add(m, c, m->pids[i], midway);
	return r;
}

/* ── by parents ───────────────────────────────────────────────────────── */

static bool read_parent(const struct as_collect *c, const char *pid, int32_t *ret_parent)
{
	struct as_proc_stat st;
	char path[32], text[1024];
	struct as_err err;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%.16s/stat", pid);
	if (as_read_at(c->env->proc, path, text, sizeof text, &n, &err) < 0 ||
	    !as_parse_stat(text, n, &st))
		return false;
	*ret_parent = st.ppid;
	return true;
}

static bool belongs(const struct as_members *m, const struct as_collect *c, int32_t pid,
		    int32_t parent)
{
	return (pid == c->root && !m->root_ended) || as_members_find(m, parent) ||
	       (!c->attached && parent == getpid());
}

/* Strangers of the tick before, walked in step with the listing (both sorted by pid). */
static bool known_stranger(const struct as_members *m, size_t *at, int32_t pid, uint64_t inode)
{
	while (*at < m->nstrangers && m->strangers[*at].pid < pid)
		(*at)++;
	return *at < m->nstrangers && m->strangers[*at].pid == pid &&
	       m->strangers[*at].inode == inode;
}

struct scan {
	struct as_stranger *v;
	size_t n, cap;
};

static void look_at(struct as_members *m, const struct as_collect *c, const struct dirent *e,
		    size_t *at, struct scan *strangers, bool midway)
{
	int32_t parent = 0;
	uint64_t pid = 0;

	if (!as_scan_u64(e->d_name, strlen(e->d_name), &pid) || as_members_find(m, (int32_t)pid))
		return;
	bool stranger = known_stranger(m, at, (int32_t)pid, e->d_ino);
	if (!stranger && !read_parent(c, e->d_name, &parent))
		return;
	if (!stranger && belongs(m, c, (int32_t)pid, parent))
		(void)as_members_add(m, c, (int32_t)pid, midway);
	else if (as_grow(&strangers->v, &strangers->cap, strangers->n, sizeof *strangers->v, 256))
		strangers->v[strangers->n++] = (struct as_stranger){(int32_t)pid, e->d_ino};
}

static int by_parents(struct as_members *m, const struct as_collect *c, bool midway,
		      struct as_err *err)
{
	as_auto_folder struct as_folder f = {.fd = as_folder_open(c->env->proc, ".")};
	struct scan strangers = {0};
	size_t at = 0;

	if (f.fd < 0)
		return as_fail_errno(err, errno, "list /proc");
	for (const struct dirent *e; (e = as_folder_next(&f));)
		look_at(m, c, e, &at, &strangers, midway);
	free(m->strangers);
	m->strangers = strangers.v;
	m->nstrangers = strangers.n;
	return AS_OK;
}

int as_members_update(struct as_members *m, const struct as_collect *c, bool midway,
		      struct as_err *err)
{
	if (c->root && !m->root_ended && !as_members_find(m, c->root))
		(void)as_members_add(m, c, c->root, midway);
	if (!c->children)
		return AS_OK;
	if (c->cgroup && c->cgroup->own)
		return by_group(m, c, midway, err);
	return by_parents(m, c, midway, err);
}

void as_members_done(struct as_members *m)
{
	while (m->n)
		as_members_drop(m, m->n - 1);
	free(m->v);
	free(m->strangers);
	free(m->pids);
	*m = (struct as_members){0};
}
