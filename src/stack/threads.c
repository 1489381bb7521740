#include "stack/threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "stack/ring.h"

enum {
	INTERPS_MOST = 256,
	PTHREAD_BYTES = 2048,
	HOPES_MOST = 64, /* so often in a row a list is read anew for who has not begun */
};

void as_pythreads_init(struct as_pythreads *t, const struct as_env *env, const struct as_python *py)
{
	*t = (struct as_pythreads){.env = env, .py = py};
	as_tids_init(&t->tids, env, py->pid);
}

static void forget(struct as_pythread *t)
{
	as_snapper_done(&t->snap);
	as_code_trail_done(&t->trail);
	as_close_(&t->sched);
	as_close_(&t->call);
	as_crowd_done(&t->crowd);
	free(t);
}

void as_pythreads_done(struct as_pythreads *t)
{
	for (size_t i = 0; i < t->n; i++)
		forget(t->at[i]);
	free(t->at);
	as_tids_done(&t->tids);
	as_cstacks_done(&t->cstacks);
	*t = (struct as_pythreads){0};
}

static bool read_word(const struct as_pythreads *t, uint64_t at, uint64_t *ret)
{
	return !as_remote_read(t->py->pid, at, ret, sizeof *ret);
}

/* ── numbers of threads ───────────────────────────────────────────────── */

static int open_of(const struct as_pythreads *t, pid_t tid, const char *file)
{
	char path[64];

	(void)snprintf(path, sizeof path, "%d/task/%d/%s", (int)t->py->pid, (int)tid, file);
	return as_openat(t->env->proc, path, O_RDONLY | O_CLOEXEC);
}

static bool is_thread(struct as_pythreads *t, pid_t inside)
{
	pid_t here = inside > 0 ? as_tids_here(&t->tids, inside) : 0;
	as_auto_fd int fd = here ? open_of(t, here, "comm") : -1;

	return fd >= 0;
}

static int32_t number_at(const unsigned char *pthread, uint32_t at)
{
	int32_t v;

	memcpy(&v, pthread + at, sizeof v);
	return v;
}

/*
 * Before 3.11 Python knows only the address of the C library's struct for a
 * thread. The kernel's number is in it where glibc or musl have it on x86-64,
 * or wherever the main thread's has the number of the process. That must not
 * be a small one, as in a container: such stand in many places.
 */
static uint32_t find_tid(struct as_pythreads *t, uint64_t pthread)
{
	enum { GLIBC = 720, MUSL = 48, SMALL = 99 };
	static const uint32_t usual[] = {GLIBC, MUSL};
	unsigned char p[PTHREAD_BYTES];
	pid_t self = t->tids.self.inside;

	if (as_remote_read(t->py->pid, pthread, p, sizeof p))
		return 0;
	for (size_t i = 0; i < AS_LEN(usual); i++)
		if (is_thread(t, number_at(p, usual[i])))
			return usual[i];
	for (uint32_t at = 0; self > SMALL && at + 4 <= sizeof p; at += 4)
		if (number_at(p, at) == self)
			return at;
	return 0;
}

/* As the process counts. */
static pid_t tid_inside(struct as_pythreads *t, const unsigned char *state)
{
	const struct as_py_layout *l = &t->py->at;
	uint64_t v;
	int32_t tid = 0;

	memcpy(&v, state + (l->thread.tid != AS_PY_NO ? l->thread.tid : l->thread.pthread),
	       sizeof v);
	if (l->thread.tid != AS_PY_NO)
		return (pid_t)v;
	if (!t->tid_at)
		t->tid_at = find_tid(t, v);
	if (t->tid_at && as_remote_read(t->py->pid, v + t->tid_at, &tid, sizeof tid))
		tid = 0;
	return tid;
}

/* ── one thread ───────────────────────────────────────────────────────── */

static void read_name(const struct as_pythreads *t, struct as_pythread *x)
{
	as_auto_fd int fd = open_of(t, x->tid, "comm");
	struct as_err ignored;
	size_t n = 0;

	if (fd < 0 || as_read_fd(fd, x->name, sizeof x->name, &n, &ignored) < 0)
		n = 0;
	x->name[n && x->name[n - 1] == '\n' ? n - 1 : n] = '\0';
}

static bool read_sched(const struct as_pythread *t, struct as_proc_sched *ret)
{
	struct as_err ignored;
	char text[80];
	size_t n = 0;

	return t->sched >= 0 && as_read_fd(t->sched, text, sizeof text, &n, &ignored) >= 0 &&
	       as_parse_sched(text, n, ret);
}

static bool lives(const struct as_pythread *t)
{
	struct as_proc_sched ignored;

	return read_sched(t, &ignored);
}

bool as_pythread_runs(const struct as_pythread *t)
{
	char c = 0;

	return t->call < 0 || as_pread(t->call, &c, 1, 0) != 1 || c == 'r';
}

static struct as_pythread *add(struct as_pythreads *t, uint64_t state, uint64_t interp, pid_t tid)
{
	if (t->n >= AS_PYTHREADS_MOST || !as_grow(&t->at, &t->cap, t->n, sizeof *t->at, 16))
		return NULL;
	struct as_pythread *x = as_zalloc(sizeof *x);
	if (!x)
		return NULL;
	*x = (struct as_pythread){.interp = interp, .tid = tid, .fresh = true};
	as_snapper_init(&x->snap, t->py, state);
	x->sched = open_of(t, tid, "schedstat");
	x->call = open_of(t, tid, "syscall");
	(void)read_sched(x, &x->was);
	as_crowd_init(&x->crowd, &x->was);
	x->runs = as_pythread_runs(x);
	read_name(t, x);
	t->at[t->n++] = x;
	return x;
}

static struct as_pythread *find(const struct as_pythreads *t, uint64_t state, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i]->snap.thread == state && t->at[i]->tid == tid)
			return t->at[i];
	return NULL;
}

/*
 * The kernel counts how often a thread was put on a CPU (0: it does not), and
 * its time there when it leaves it and at each clock tick. So one of which
 * nothing has changed still does what it did: it waits, or it runs.
 */
bool as_pythread_ask(struct as_pythread *t, struct as_pydeed *ret)
{
	struct as_proc_sched now;

	if (!read_sched(t, &now))
		return false;
	int64_t ran = now.run_ns - t->was.run_ns;
	ret->used_ns = ran - t->told_ns;
	ret->changed = !now.slices || ran || now.slices != t->was.slices;
	ret->moved = ret->changed || t->runs;
	t->runs = ret->runs = ret->changed ? as_pythread_runs(t) : t->runs;
	t->was = now;
	t->clock_ns = t->told_ns = 0;
	as_crowd_weigh(&t->crowd, &now);
	return true;
}

bool as_pythread_count(struct as_pythread *t, int64_t *ret_used_ns)
{
	struct as_proc_sched now;

	if (!read_sched(t, &now))
		return false;
	*ret_used_ns = now.run_ns - t->was.run_ns;
	as_crowd_weigh(&t->crowd, &now);
	return true;
}

bool as_pythread_shows(const struct as_pythreads *of, struct as_pythread *t)
{
	struct as_proc_sched now;

	if (!t->crowd.crowded)
		return true;
	if (t->crowd.fd < 0)
		t->crowd.fd = open_of(of, t->tid, "sched");
	return !read_sched(t, &now) || as_crowd_shows(&t->crowd, of->env, &now);
}

/* ── all of them ──────────────────────────────────────────────────────── */

/*
 * Has it no Python frame? Where frames are pointed to by something on the C
 * stack (3.11), that is in the thread's own state until it runs the first one.
 */
static bool is_bare(const struct as_py_layout *l, uint64_t state, const unsigned char *copy)
{
	uint64_t frame = as_word(copy, l->thread.frame);

	return !frame || (l->thread.via != AS_PY_NO && frame - state < AS_PY_THREAD_MOST);
}

/*
 * Who runs it? Until 3.12 an interpreter's first state keeps the number of the thread that
 * made it, whoever runs it: but what it executes is on the stack of C of the one that does.
 */
static pid_t runner(const struct as_pythreads *t, uint64_t state, const unsigned char *copy,
		    pid_t tid)
{
	uint64_t on = t->cstacks.n ? as_word(copy, t->py->at.thread.cframe) : 0;
	pid_t of = !on || on - state < AS_PY_THREAD_MOST
			   ? 0
			   : as_cstacks_of(&t->cstacks, on, t->py->pid);

	return of ? of : tid;
}

/* A thread that does not know its interpreter is none: the list changed under our eyes. */
static bool visit(struct as_pythreads *t, uint64_t state, uint64_t interp, uint64_t *ret_next)
{
	const struct as_py_layout *l = &t->py->at;
	unsigned char copy[AS_PY_THREAD_MOST];
	uint64_t owner;

	if (as_remote_read(t->py->pid, state, copy, l->thread.size))
		return false;
	memcpy(&owner, copy + l->thread.interp, sizeof owner);
	memcpy(ret_next, copy + l->thread.next, sizeof *ret_next);
	if (owner != interp)
		return false;
	pid_t tid = as_tids_here(&t->tids, tid_inside(t, copy));
	if (t->surveys)
		return tid <= 0 ||
		       as_cstacks_add(&t->cstacks, as_word(copy, l->thread.pthread), tid);
	tid = runner(t, state, copy, tid);
	struct as_pythread *x = find(t, state, tid);
	if (!x && tid > 0)
		x = add(t, state, interp, tid);
	t->unborn += tid <= 0;
	if (!x)
		return tid <= 0;
	x->listed = true;
	x->bare = is_bare(l, state, copy);
	x->rank = t->ranks++;
	return true;
}

static bool endless(struct as_ring *r, uint64_t at)
{
	return as_ring_closed(r, at) || r->steps > AS_PYTHREADS_MOST;
}

static bool visit_interp(struct as_pythreads *t, uint64_t interp, struct as_ring *ring)
{
	uint64_t state = 0;

	if (!read_word(t, interp + t->py->at.interp.threads, &state))
		return false;
	while (state)
		if (endless(ring, state) || !visit(t, state, interp, &state))
			return false;
	return true;
}

/* False: the list could not be followed to its end. */
static bool visit_all(struct as_pythreads *t, uint64_t interp)
{
	struct as_ring interps = {0}, threads = {0};

	t->interps = t->ranks = t->unborn = 0;
	for (; interp && t->interps < INTERPS_MOST; t->interps++)
		if (endless(&interps, interp) || !visit_interp(t, interp, &threads) ||
		    !read_word(t, interp + t->py->at.interp.next, &interp))
			return false;
	return true;
}

/*
 * Until 3.11 whoever begins a thread makes its state and puts its own number
 * there; the new one puts down its own when it runs. Till then it has no frame,
 * and stands before its maker in the list. It would be taken for its maker.
 */
static bool has_maker(const struct as_pythreads *t, const struct as_pythread *x)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct as_pythread *y = t->at[i];

		if (y != x && y->listed && y->tid == x->tid && y->interp == x->interp &&
		    (!y->bare || y->rank > x->rank))
			return true;
	}
	return false;
}

static void unlist_unborn(struct as_pythreads *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i]->listed && t->at[i]->bare && has_maker(t, t->at[i])) {
			t->at[i]->listed = false;
			t->unborn++;
		}
}

static void drop_unlisted(struct as_pythreads *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i]->listed)
			t->at[kept++] = t->at[i];
		else
			forget(t->at[i]);
	}
	t->n = kept;
}

static int by_rank(const void *a, const void *b)
{
	const struct as_pythread *x = *(struct as_pythread *const *)a,
				 *y = *(struct as_pythread *const *)b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

bool as_pythreads_elsewhere(const struct as_pythreads *t, size_t i)
{
	for (size_t k = 0; t->interps > 1 && k < i; k++)
		if (t->at[k]->tid == t->at[i]->tid && t->at[k]->staffed)
			return true;
	return false;
}

static bool first_head(const struct as_pythreads *t, uint64_t *ret_interp, uint64_t *ret_head)
{
	return read_word(t, t->py->runtime + t->py->at.runtime.interpreters, ret_interp) &&
	       *ret_interp && read_word(t, *ret_interp + t->py->at.interp.threads, ret_head);
}

void as_pyheads_init(struct as_pyheads *h, const struct as_pythreads *t)
{
	const struct as_py_layout *l = &t->py->at;

	h->also.read = false;
	h->also.range[0] = (struct as_range){t->py->runtime + l->runtime.interpreters, &h->interp,
					     sizeof h->interp};
	h->also.range[1] =
		(struct as_range){t->interp + l->interp.threads, &h->head, sizeof h->head};
}

bool as_pythreads_same(const struct as_pythreads *t, struct as_pyheads *h)
{
	if (t->interps > 1 || (t->unborn && t->hopes < HOPES_MOST))
		return false;
	if (!h->also.read)
		h->also.read = as_remote_gather(t->py->pid, h->also.range, AS_ALSO_MOST) ==
			       sizeof h->interp + sizeof h->head;
	return h->also.read && h->interp == t->interp && h->head == t->head;
}

/* In a namespace of its own the number of a thread that has ended may be another's. */
static void forget_ended(struct as_pythreads *t)
{
	if (!as_tids_foreign(&t->tids))
		return;
	for (size_t i = 0; i < t->n; i++)
		if (!lives(t->at[i]))
			as_tids_forget(&t->tids);
}

/* Learn whose stack of C is where, if several interpreters may have exchanged their threads. */
static bool survey(struct as_pythreads *t)
{
	t->cstacks.n = 0;
	if (t->interps < 2 || t->py->at.thread.cframe == AS_PY_NO)
		return false;
	t->surveys = true;
	bool whole = visit_all(t, t->interp);

	t->surveys = false;
	as_cstacks_settle(&t->cstacks);
	if (!whole)
		t->cstacks.n = 0;
	return whole;
}

/* By what was learned since the list was made. */
static bool visit_anew(struct as_pythreads *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->at[i]->listed = false;
	return visit_all(t, t->interp);
}

bool as_pythreads_refresh(struct as_pythreads *t)
{
	uint64_t before = t->head;

	if (!first_head(t, &t->interp, &t->head))
		return false;
	for (size_t i = 0; i < t->n; i++)
		t->at[i]->listed = false;
	forget_ended(t);
	survey(t);
	bool blind = !t->tid_at, whole = visit_all(t, t->interp);
	if (blind && t->tid_at) /* the main thread, which tells where numbers are, comes last */
		whole = visit_all(t, t->interp);
	if (!t->cstacks.n && survey(t))
		whole = visit_anew(t);
	for (size_t i = 0; i < t->n && !whole; i++)
		t->at[i]->listed |= lives(t->at[i]);
	unlist_unborn(t);
	t->hopes = t->unborn && t->head == before ? t->hopes + 1 : 0;
	drop_unlisted(t);
	if (t->interps > 1 && t->n)
		qsort(t->at, t->n, sizeof *t->at, by_rank);
	return true;
}

/* ── who has the GIL ──────────────────────────────────────────────────── */

static uint64_t holder_of(const struct as_pythreads *t, uint64_t interp)
{
	const struct as_py_layout *l = &t->py->at;
	uint64_t gil = 0, holder = 0;
	int32_t locked = 0;

	if (l->runtime.current != AS_PY_NO)
		return read_word(t, t->py->runtime + l->runtime.current, &holder) ? holder : 0;
	if (!read_word(t, interp + l->interp.gil, &gil) || !gil ||
	    as_remote_read(t->py->pid, gil + l->gil.locked, &locked, sizeof locked) ||
	    locked != 1 || !read_word(t, gil + l->gil.holder, &holder))
		return 0;
	return holder;
}

size_t as_pythreads_holders(const struct as_pythreads *t, uint64_t *holder, size_t max)
{
	uint64_t interp = 0;
	struct as_ring ring = {0};
	size_t n = 0;

	if (!read_word(t, t->py->runtime + t->py->at.runtime.interpreters, &interp))
		return 0;
	while (interp && n < max && !endless(&ring, interp)) {
		uint64_t h = holder_of(t, interp);

		if (h && (!n || holder[n - 1] != h))
			holder[n++] = h;
		if (!read_word(t, interp + t->py->at.interp.next, &interp))
			break;
	}
	return n;
}
