#include "collect/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "collect/source.h"
#include "os/folder.h"

static struct as_thread *find(struct as_process *p, int32_t tid)
{
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	return NULL;
}

/* Its name without the newline; "" when it is gone. */
static void thread_name(int dir, int32_t tid, char *name, size_t size)
{
	struct as_err err;
	char path[48];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "task/%d/comm", tid);
	if (as_read_at(dir, path, name, size, &n, &err) < 0)
		n = 0;
	name[n ? n - 1 : 0] = '\0';
}

static void tell(const struct as_process *p, const struct as_collect *c, struct as_thread *t,
		 bool died)
{
	struct as_instance i = {
		.scope = AS_THREAD,
		.id = t->instance,
		.parent = p->instance,
		.key = t->tid,
		.born_ns = AS_NA,
		.died_ns = died ? as_now() - c->start_ns : AS_NA,
		.ended_by = AS_NA,
	};

	if (!died)
		i.name = t->name;
	as_tee_instance(c->sink, &i);
}

/* The first thread's file was just read for the process: it is the same one. */
static bool read_with_process(const struct as_process *p, struct as_thread *t)
{
	if (t->tid != p->pid || p->sched.slices == AS_PROC_NA)
		return false;
	t->was = t->now;
	t->now = p->sched;
	return true;
}

static bool read_one(const struct as_process *p, struct as_thread *t, struct as_proc_pool *pool)
{
	struct as_proc_sched now;
	char path[48], text[96];
	struct as_err err;
	size_t n = 0;
	int r;

	if (read_with_process(p, t))
		return true;
	if (t->fd < 0) {
		(void)snprintf(path, sizeof path, "task/%d/schedstat", t->tid);
		if (pool->keep > 0) {
			t->fd = as_openat(p->dir, path, O_RDONLY | O_CLOEXEC);
			pool->keep -= t->fd >= 0;
		}
	}
	r = t->fd >= 0 ? as_read_fd(t->fd, text, sizeof text, &n, &err)
		       : as_read_at(p->dir, path, text, sizeof text, &n, &err);
	if (r != AS_OK || !as_parse_sched(text, n, &now))
		return false;
	t->was = t->now;
	t->now = now;
	return true;
}

/* A new one, with its numbers and its name. Most processes have one thread. */
static void keep(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		 struct as_thread *t)
{
	if (p->nthreads >= AS_THREADS_MAX ||
	    !as_grow(&p->threads, &p->threads_cap, p->nthreads, sizeof *t, 1)) {
		*c->starved |= p->nthreads < AS_THREADS_MAX;
		as_close_(&t->fd);
		return;
	}
	t->instance = pool->next_thread++;
	/* A thread that was there before us starts at 0 now; a new one has all its time here. */
	if (p->midway && !p->told[0])
		t->base = t->now;
	p->threads[p->nthreads++] = *t;
	if (as_wants_group(c->want, AS_G_THREADS))
		tell(p, c, t, false);
}

static void add(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		int32_t tid)
{
	struct as_thread t = {.tid = tid, .fd = -1, .seen = true};

	if (!read_one(p, &t, pool))
		return;
	if (as_wants_group(c->want, AS_G_THREADS))
		thread_name(p->dir, tid, t.name, sizeof t.name);
	keep(p, c, pool, &t);
}

void as_threads_doubt_again(const struct as_collect *c, const struct as_proc_pool *pool)
{
	if (pool->last_looks)
		as_collect_origins(c, AS_THREAD, AS_G_THREADS, AS_ATTRIBUTED,
				   "last look at each; its process may have more");
}

void as_threads_doubt(const struct as_collect *c, struct as_proc_pool *pool)
{
	bool known = pool->last_looks;

	pool->last_looks = true;
	if (!known)
		as_threads_doubt_again(c, pool);
}

static void drop(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		 size_t i)
{
	struct as_thread *t = &p->threads[i];

	if (as_wants_group(c->want, AS_G_THREADS))
		tell(p, c, t, true);
	as_threads_doubt(c, pool);
	if (t->fd >= 0) {
		as_close_(&t->fd);
		pool->keep++;
	}
	p->wait_ended += t->now.wait_ns - t->base.wait_ns;
	p->run_ended += t->now.run_ns;
	*t = p->threads[--p->nthreads];
}

/* ── exec by another than the first ───────────────────────────────────── */

/*
 * A thread that calls exec ends all others and goes on under the number of the first one, with
 * all that it counted before. That stays told where it was: of the thread that it seemed to be.
 * The first one goes on from what it had itself.
 */

static bool includes(const struct as_proc_sched *all, const struct as_proc_sched *part)
{
	return all->run_ns >= part->run_ns && all->wait_ns >= part->wait_ns &&
	       all->slices >= part->slices;
}

/* One is not in the list any more: did the first one become it? Of several the busiest may be. */
static void note_missing(struct as_process *p, const struct as_thread *t,
			 struct as_proc_sched *ret_busiest)
{
	const struct as_thread *first = find(p, p->pid);

	if (first && first != t && includes(&first->now, &t->now) &&
	    t->now.run_ns > ret_busiest->run_ns)
		*ret_busiest = t->now;
}

static void take_number(struct as_process *p, struct as_thread *first,
			const struct as_proc_sched *had)
{
	int64_t run_ns = had->run_ns - first->was.run_ns;

	p->run_ended -= run_ns;
	first->base.run_ns += run_ns;
	first->base.wait_ns += had->wait_ns - first->was.wait_ns;
	first->was = first->now;
}

/*
 * Counts only grow, so one that is smaller is another's; else, with what those that are missing
 * had, it would be more than `ended`, the most that threads which ended can have used.
 */
static void follow_exec(struct as_process *p, const struct as_proc_sched *busiest, int64_t ended)
{
	struct as_thread *first = find(p, p->pid);

	if (first &&
	    (!includes(&first->now, &first->was) || (busiest->run_ns && p->run_ended > ended)))
		take_number(p, first, busiest);
}

/*
 * Each of the two parts that ticks tell is cut to whole ones. What was before the run may be
 * told as two too much, and threads that run go on between the reading of one and another.
 */
static int64_t most_ended(const struct as_process *p, const struct as_collect *c)
{
	int64_t ticks = p->midway || p->nthreads > 1 ? 4 : 2;

	return p->stat.utime + p->stat.stime + ticks * AS_SECOND / c->env->hz - as_threads_run(p);
}

/* ── read from /proc ──────────────────────────────────────────────────── */

static void list(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		 struct as_proc_sched *ret_busiest)
{
	as_auto_folder struct as_folder f = {.fd = as_folder_open(p->dir, "task")};
	uint64_t tid = 0;

	if (f.fd < 0)
		return;
	for (size_t i = 0; i < p->nthreads; i++)
		p->threads[i].seen = false;
	for (const struct dirent *e; (e = as_folder_next(&f));) {
		if (!as_scan_u64(e->d_name, strlen(e->d_name), &tid))
			continue;
		struct as_thread *t = find(p, (int32_t)tid);
		if (t)
			t->seen = true;
		else
			add(p, c, pool, (int32_t)tid);
	}
	for (size_t i = p->nthreads; i-- > 0;)
		if (!p->threads[i].seen) {
			note_missing(p, &p->threads[i], ret_busiest);
			drop(p, c, pool, i);
		}
}

void as_threads_read(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool)
{
	bool changed = (int64_t)p->nthreads != p->stat.threads && p->nthreads < AS_THREADS_MAX;
	struct as_proc_sched busiest = {0};

	for (size_t i = 0; i < p->nthreads; i++)
		changed |= !read_one(p, &p->threads[i], pool);
	if (changed)
		list(p, c, pool, &busiest);
	follow_exec(p, &busiest, most_ended(p, c));
}

void as_threads_rename(struct as_process *p, const struct as_collect *c)
{
	if (!as_wants_group(c->want, AS_G_THREADS))
		return;
	as_auto_visit struct as_visit at = as_process_visit(p, c);
	for (size_t i = 0; i < p->nthreads; i++) {
		struct as_thread *t = &p->threads[i];

		if (!t->pass) /* else its name comes with its numbers */
			thread_name(at.dir, t->tid, t->name, sizeof t->name);
		tell(p, c, t, false);
	}
}

/* ── told by a pass ───────────────────────────────────────────────────── */

void as_threads_told(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		     const struct as_wire_thread *w, uint64_t pass)
{
	struct as_thread *t = find(p, w->tid), new = {.tid = w->tid, .fd = -1};
	struct as_proc_sched now = {(int64_t)w->usage.cpu, (int64_t)w->usage.wait,
				    (int64_t)w->slices};

	if (!t)
		memcpy(new.name, w->comm, sizeof w->comm);
	struct as_thread *it = t ? t : &new;
	p->changed |= !t || memcmp(&it->now, &now, sizeof now) != 0;
	it->was = it->now;
	it->now = now;
	it->pass = pass;
	if (!t) {
		keep(p, c, pool, it);
	} else if (memcmp(t->name, w->comm, sizeof w->comm) &&
		   strncmp(t->name, w->comm, sizeof w->comm) != 0) {
		memcpy(t->name, w->comm, sizeof w->comm);
		t->name[sizeof w->comm] = '\0';
		if (as_wants_group(c->want, AS_G_THREADS))
			tell(p, c, t, false);
	}
}

void as_threads_untold(struct as_process *p, const struct as_collect *c, struct as_proc_pool *pool,
		       uint64_t pass)
{
	struct as_proc_sched busiest = {0};

	for (size_t i = p->nthreads; i-- > 0;)
		if (p->threads[i].pass != pass) {
			note_missing(p, &p->threads[i], &busiest);
			drop(p, c, pool, i);
			p->changed = true;
		}
	/* Before the first pass what the ended had was known by ticks, and may be too much. */
	if (p->changed)
		follow_exec(p, &busiest,
			    p->first_pass ? INT64_MAX : (int64_t)p->told_ended.threads.cpu);
}

void as_threads_rows(const struct as_process *p, const struct as_collect *c, struct as_frame *frame)
{
	for (size_t i = 0; i < p->nthreads; i++) {
		const struct as_thread *t = &p->threads[i];

		if (!p->changed && as_frame_same(frame, AS_THREAD, t->instance))
			continue;
		int64_t *row = as_frame_row(frame, AS_THREAD, t->instance);
		as_put(c, row, AS_F_THR_CPU, t->now.run_ns - t->base.run_ns);
		as_put(c, row, AS_F_THR_WAIT, t->now.wait_ns - t->base.wait_ns);
	}
}

int64_t as_threads_wait(const struct as_process *p)
{
	int64_t sum = p->wait_ended;

	for (size_t i = 0; i < p->nthreads; i++)
		sum += p->threads[i].now.wait_ns - p->threads[i].base.wait_ns;
	return p->nthreads ? sum : AS_PROC_NA;
}

int64_t as_threads_run(const struct as_process *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->nthreads; i++)
		sum += p->threads[i].now.run_ns;
	return sum;
}

void as_threads_close(struct as_process *p, struct as_proc_pool *pool)
{
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].fd >= 0) {
			as_close_(&p->threads[i].fd);
			p->threads[i].fd = -1;
			pool->keep++;
		}
}
