#include "collect/sockfds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/folder.h"

static const int64_t seldom = 2 * AS_SECOND; /* how old what is known may be, at most: and */
enum { AGE_PART = 2 };                       /* that part of the time since it was met     */

void as_sockfds_init(struct as_sockfds *f, const struct as_collect *c)
{
	struct stat st;

	*f = (struct as_sockfds){.nnetns = 1};
	if (c->env->proc >= 0 && as_fstatat(c->env->proc, "self/ns/net", &st) == 0)
		f->netns[0] = st.st_ino;
}

uint32_t as_sockfd_scan(const char *p, size_t n)
{
	static const char lead[] = "socket:[";
	const size_t len = sizeof lead - 1;
	uint64_t inode = 0;

	if (n <= len || memcmp(p, lead, len))
		return 0;
	size_t used = as_scan_u64(p + len, n - len, &inode);
	return used && len + used + 1 == n && p[n - 1] == ']' && inode <= UINT32_MAX
		       ? (uint32_t)inode
		       : 0;
}

/* ── one process ──────────────────────────────────────────────────────── */

/* Which of the namespaces the process is in; a new one is noted while there is room. */
static uint32_t netns_of(struct as_sockfds *f, int dir, int32_t pid)
{
	struct stat st;

	if (as_fstatat(dir, "ns/net", &st) < 0)
		return 0;
	for (size_t i = 0; i < f->nnetns; i++)
		if (f->netns[i] == st.st_ino)
			return (uint32_t)i;
	int fd = f->nnetns < AS_NETNS_MAX ? as_openat(dir, "ns/net", O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	f->netns[f->nnetns] = st.st_ino;
	f->netns_pid[f->nnetns] = pid;
	f->netns_fd[f->nnetns] = fd;
	return (uint32_t)f->nnetns++;
}

static bool read_links(struct as_holder *h, struct as_folder *d)
{
	for (const struct dirent *e; (e = as_folder_next(d));) {
		char link[64];
		ssize_t n = e->d_name[0] == '.'
				    ? 0
				    : as_readlinkat(d->fd, e->d_name, link, sizeof link);
		uint32_t inode = n > 0 ? as_sockfd_scan(link, (size_t)n) : 0;

		if (!inode)
			continue;
		if (!as_grow(&h->inodes, &h->cap, h->n, sizeof *h->inodes, 8))
			return false;
		h->inodes[h->n++] = inode;
	}
	return true;
}

/*
 * One that has ended, or is about to, refuses as well, but hides nothing: without memory of its own
 * it is nobody's but root's, and closing its files may take a while.
 */
static bool hides(int dir)
{
	struct as_proc_stat now;
	struct as_err err;
	char text[1024];
	size_t n = 0;

	return errno == EACCES && as_read_at(dir, "stat", text, sizeof text, &n, &err) == AS_OK &&
	       as_parse_stat(text, n, &now) && now.state != 'Z' && now.state != 'X' &&
	       now.vsize > 0;
}

/* False: memory ran out. */
static bool read_holder(struct as_sockfds *f, const struct as_collect *c, struct as_holder *h,
			const struct as_process *p)
{
	as_auto_visit struct as_visit at = as_process_body(p, c);
	as_auto_folder struct as_folder d = {.fd = as_folder_open(at.dir, "fd")};

	f->changed |= h->n > 0;
	h->due = false;
	h->n = 0;
	h->fds = p->fds;
	h->read_ns = as_now();
	h->met_ns = h->met_ns ? h->met_ns : h->read_ns;
	if (d.fd < 0) {
		f->denied |= hides(at.dir);
		return true;
	}
	h->netns = netns_of(f, at.dir, p->pid);
	bool ok = read_links(h, &d);
	f->changed |= h->n > 0;
	return ok;
}

/* It ran, and yet hardly holds a socket now. The same number may hide a change: not for long. */
static bool can_wait(const struct as_holder *h, int64_t now)
{
	int64_t rest = (h->read_ns - h->met_ns) / AGE_PART;

	return !h->n && h->fds != AS_NA && h->fds == h->has &&
	       now - h->read_ns < (rest < seldom ? rest : seldom);
}

/* ── all of them ──────────────────────────────────────────────────────── */

static void drop_holder(struct as_sockfds *f, size_t i)
{
	f->changed |= f->holders[i].n > 0;
	free(f->holders[i].inodes);
	memmove(f->holders + i, f->holders + i + 1, (f->nholders - i - 1) * sizeof *f->holders);
	f->nholders--;
}

/* Where it is or should be; mostly at the place `near`. */
static size_t place(const struct as_sockfds *f, int32_t pid, size_t near)
{
	size_t lo = 0, hi = f->nholders;

	if (near < f->nholders && f->holders[near].pid == pid)
		return near;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->holders[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool add_holder(struct as_sockfds *f, size_t at, const struct as_process *p)
{
	if (!as_grow(&f->holders, &f->holders_cap, f->nholders, sizeof *f->holders, 16))
		return false;
	memmove(f->holders + at + 1, f->holders + at, (f->nholders - at) * sizeof *f->holders);
	f->nholders++;
	f->holders[at] = (struct as_holder){
		.pid = p->pid, .instance = p->instance, .fds = AS_NA, .due = true, .seen = true};
	return true;
}

/* Of several threads /proc does not tell cheaply whether one of them ran; a pass does. */
static bool ran(const struct as_holder *h, const struct as_process *p)
{
	return h->instance != p->instance || h->moves != p->moves ||
	       (p->stat.threads > 1 && !p->passed);
}

/* Only who runs changes its name. */
static void note(struct as_holder *h, const struct as_process *p)
{
	h->due = true;
	h->moves = p->moves;
	h->met_ns = h->instance == p->instance ? h->met_ns : 0;
	h->instance = p->instance;
	memcpy(h->comm, p->stat.comm, sizeof h->comm - 1);
}

/* Who joined, who left, and who ran. */
static bool follow(struct as_sockfds *f, const struct as_members *m)
{
	size_t at = 0;

	f->ran = false;
	for (size_t i = 0; i < f->nholders; i++)
		f->holders[i].seen = false;
	for (size_t i = 0; i < m->n; i++) {
		const struct as_process *p = m->v[i];

		if (!as_process_there(p))
			continue;
		at = place(f, p->pid, at);
		bool known = at < f->nholders && f->holders[at].pid == p->pid;
		if (!known && !add_holder(f, at, p))
			return false;
		struct as_holder *h = &f->holders[at];
		h->seen = true;
		if (!known || ran(h, p))
			note(h, p);
		if (h->due)
			h->has = p->fds;
		f->ran |= h->due;
		at++;
	}
	for (size_t i = f->nholders; i-- > 0;)
		if (!f->holders[i].seen) {
			f->ran = true;
			drop_holder(f, i);
		}
	return true;
}

static int by_inode(const void *a, const void *b)
{
	const struct as_sockfd *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* The list of all, anew: what was known of a socket is known of it still. */
static bool gather(struct as_sockfds *f)
{
	struct as_sockfd *v = NULL;
	size_t n = 0, cap = 0, kept = 0;

	for (size_t i = 0; i < f->nholders; i++)
		for (size_t k = 0; k < f->holders[i].n; k++) {
			uint32_t inode = f->holders[i].inodes[k];
			const struct as_sockfd *old = as_sockfds_find(f, inode);

			if (!as_grow(&v, &cap, n, sizeof *v, 16)) {
				free(v);
				return false;
			}
			v[n++] = old ? *old
				     : (struct as_sockfd){.inode = inode,
							  .netns = f->holders[i].netns};
		}
	if (n)
		qsort(v, n, sizeof *v, by_inode);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].inode != v[i].inode)
			v[kept++] = v[i];
	free(f->v);
	f->v = v;
	f->n = kept;
	f->changed = false;
	return true;
}

int as_sockfds_look(struct as_sockfds *f, const struct as_collect *c, as_time_left_fn *left,
		    void *data, struct as_err *err)
{
	const struct as_members *m = *c->members;
	bool ok = follow(f, m);
	int64_t now = as_now();

	for (size_t k = 0; ok && k < f->nholders; k++, f->turn++) {
		struct as_holder *h = &f->holders[f->turn % f->nholders];

		if (!h->due || can_wait(h, now))
			continue;
		if (!left(data)) /* a system call, and those who can wait are many */
			break;
		const struct as_process *p = as_members_find(m, h->pid);
		if (p)
			ok = read_holder(f, c, h, p);
	}
	if (!ok || (f->changed && !gather(f)))
		return as_fail(err, AS_ENOMEM, "no memory for the sockets of the job");
	return AS_OK;
}

struct as_sockfd *as_sockfds_find(const struct as_sockfds *f, uint32_t inode)
{
	const struct as_sockfd key = {.inode = inode};

	return f->n ? bsearch(&key, f->v, f->n, sizeof key, by_inode) : NULL;
}

struct as_sock_owner as_sockfds_owner(const struct as_sockfds *f, uint32_t inode)
{
	struct as_sock_owner owner = {0};

	for (size_t i = 0; inode && i < f->nholders && !owner.pid; i++)
		for (size_t k = 0; k < f->holders[i].n; k++)
			if (f->holders[i].inodes[k] == inode) {
				owner.pid = f->holders[i].pid;
				memcpy(owner.comm, f->holders[i].comm, sizeof owner.comm);
			}
	return owner;
}

void as_sockfds_done(struct as_sockfds *f)
{
	while (f->nholders)
		drop_holder(f, f->nholders - 1);
	for (size_t i = 1; i < f->nnetns; i++)
		as_close_(&f->netns_fd[i]);
	free(f->holders);
	free(f->v);
	*f = (struct as_sockfds){0};
}
