#include "stack/loopthread.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/clock.h"

/* ── files ────────────────────────────────────────────────────────────── */

static int open_of(const struct as_loop_look *l, pid_t tid, const char *file)
{
	char path[64];

	(void)snprintf(path, sizeof path, "%d/task/%d/%s", (int)l->pid, (int)tid, file);
	return as_openat(l->env->proc, path, O_RDONLY | O_CLOEXEC);
}

bool as_loop_thread_open(struct as_loop_thread *t, const struct as_env *env, pid_t pid, pid_t tid)
{
	struct as_loop_look l = {.env = env, .pid = pid};
	char c;

	*t = (struct as_loop_thread){.tid = tid, .sched = -1, .status = -1};
	t->call = open_of(&l, tid, "syscall");
	return t->call >= 0 && as_pread(t->call, &c, 1, 0) >= 0;
}

void as_loop_thread_close(struct as_loop_thread *t)
{
	as_close_(&t->call);
	as_close_(&t->sched);
	as_close_(&t->status);
}

bool as_loop_thread_call(const struct as_loop_thread *t, struct as_call *ret)
{
	struct as_err ignored;
	char text[256];
	size_t n = 0;

	return as_read_fd(t->call, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_call(text, n, ret);
}

static struct as_proc_sched read_sched(const struct as_loop_thread *t)
{
	struct as_proc_sched s;
	struct as_err ignored;
	char text[80];
	size_t n = 0;

	if (t->sched < 0 || as_read_fd(t->sched, text, sizeof text, &n, &ignored) < 0 ||
	    !as_parse_sched(text, n, &s))
		s = (struct as_proc_sched){-1, -1, -1};
	return s;
}

/* How often it gave up its CPU by itself; -1: unknown. */
static int64_t read_yields(const struct as_loop_thread *t)
{
	struct as_proc_status s;
	struct as_err ignored;
	char text[4096];
	size_t n = 0;

	if (t->status < 0 || as_read_fd(t->status, text, sizeof text, &n, &ignored) < 0)
		return -1;
	as_parse_status(text, n, &s);
	return s.voluntary == AS_PROC_NA ? -1 : s.voluntary;
}

/* Now and then, because one that has ended tells nothing any more. */
static void count(struct as_loop_thread *t, int64_t now)
{
	int64_t run = read_sched(t).run_ns, yields = read_yields(t);

	t->counted_ns = now;
	t->last_run = run < 0 ? t->last_run : run;
	t->last_yields = yields < 0 ? t->last_yields : yields;
}

/* ── is it a loop ─────────────────────────────────────────────────────── */

static bool is_epoll(int32_t nr)
{
#ifdef SYS_epoll_wait /* newer machines have only its successors */
	if (nr == SYS_epoll_wait)
		return true;
#endif
	return nr == SYS_epoll_pwait || nr == SYS_epoll_pwait2;
}

static bool is_poll(int32_t nr)
{
#ifdef SYS_poll
	if (nr == SYS_poll || nr == SYS_select)
		return true;
#endif
	return nr == SYS_ppoll || nr == SYS_pselect6;
}

/*
 * A loop on epoll that is in poll does not wait for events: some library waits
 * for the one socket that it needs, and all else waits for that.
 */
bool as_loop_waits(const struct as_call *c, bool *epolls)
{
	if (c->runs)
		return false;
	*epolls |= is_epoll(c->nr);
	return is_epoll(c->nr) || (is_poll(c->nr) && !*epolls);
}

void as_loop_read_name(struct as_loop *x, const struct as_env *env, pid_t pid)
{
	struct as_loop_look l = {.env = env, .pid = pid};
	as_auto_fd int fd = open_of(&l, x->tid, "comm");
	struct as_err ignored;
	size_t n = 0;

	if (fd < 0 || as_read_fd(fd, x->name, sizeof x->name, &n, &ignored) < 0)
		n = 0;
	x->name[n && x->name[n - 1] == '\n' ? n - 1 : n] = '\0';
}

/* Seen to wait for the first time: from now on it is watched closely. */
static void become_loop(struct as_loop_thread *t, const struct as_loop_look *l)
{
	t->to = as_loops_of(l->to, t->tid);
	if (!t->to)
		return;
	t->sched = open_of(l, t->tid, "schedstat");
	t->status = open_of(l, t->tid, "status");
	t->last_run = t->last_yields = -1;
	count(t, l->now);
	t->first_ns = l->now;
	t->first_run = t->last_run;
	t->first_yields = t->last_yields;
	as_loop_read_name(t->to, l->env, l->pid);
}

/* ── a period ─────────────────────────────────────────────────────────── */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Half way back to the look before; when that is long ago, we were late, not it. */
static int64_t turned_at(const struct as_loop_thread *t, const struct as_loop_look *l)
{
	return l->now - least((l->now - t->seen_ns) / 2, l->step_ns);
}

static void begin(struct as_loop_thread *t, const struct as_loop_look *l,
		  const struct as_proc_sched *sched)
{
	bool whole = sched->slices == t->idle.slices + 1;

	t->now = (struct as_loop_period){.start_ns = turned_at(t, l),
					 .before_ns = t->seen_ns,
					 .first_ns = l->now,
					 .begin = whole ? t->idle : *sched,
					 .whole = whole};
	t->now.votes.seen_ns = t->now.start_ns;
	t->now.yields_begin = t->now.yields = read_yields(t);
	t->state = AS_LOOP_BUSY;
}

static void count_call(struct as_loop_period *p, int32_t nr)
{
	size_t i = 0;

	while (i < p->ncalls && p->call[i].nr != nr)
		i++;
	if (i == AS_LOOP_CALLS)
		return;
	p->call[i].nr = nr;
	p->call[i].n++;
	p->ncalls += i == p->ncalls;
}

/* The call that it was in most often: its index; ncalls: none. */
static size_t main_call(const struct as_loop_period *p)
{
	size_t best = 0;

	for (size_t i = 1; i < p->ncalls; i++)
		best = p->call[i].n > p->call[best].n ? i : best;
	return best;
}

const char *as_loop_call_name(int32_t nr)
{
	return nr < 0 ? "page fault" : as_call_name(nr) ? as_call_name(nr) : "unknown call";
}

/* What took most of the time: the CPU, the wait for one, or a call. */
static void find_cause(const struct as_loop_period *p, struct as_loop_block *b)
{
	size_t most = main_call(p);
	uint32_t in_calls = 0;

	for (size_t i = 0; i < p->ncalls; i++)
		in_calls += p->call[i].n;
	b->cause = b->ready_ns > b->cpu_ns ? AS_LOOP_READY : AS_LOOP_CPU;
	bool blocked = b->cpu_ns < 0 ? in_calls * 2 > p->looks
				     : b->cpu_ns + b->ready_ns < b->duration_ns / 2;
	if (!blocked || !p->ncalls)
		return;
	b->call = as_loop_call_name(p->call[most].nr);
	b->cause = !as_call_locks(p->call[most].nr) ? AS_LOOP_CALL
		   : p->gil * 2 > p->locked         ? AS_LOOP_GIL
						    : AS_LOOP_LOCK;
}

/*
 * If it gave up its CPU only to wait for events, what it used and was ready for is
 * all there was. That must fit between the looks, or the clocks do not agree.
 */
static void measure(const struct as_loop_thread *t, const struct as_proc_sched *sched, int64_t now,
		    struct as_loop_block *b)
{
	const struct as_loop_period *p = &t->now;
	int64_t used = sched->run_ns - p->begin.run_ns, ready = sched->wait_ns - p->begin.wait_ns;

	if (sched->run_ns < 0 || p->begin.run_ns < 0)
		return;
	if (p->whole && !p->ncalls && sched->slices == t->last.slices &&
	    t->last_yields - p->yields_begin == 1 && used + ready <= now - p->before_ns &&
	    used + ready >= t->seen_ns - p->first_ns) {
		b->start_ns += b->duration_ns - used - ready;
		b->duration_ns = used + ready;
	}
	b->cpu_ns = least(used, b->duration_ns);
	b->ready_ns = least(ready, b->duration_ns);
}

static void tell(struct as_loop_thread *t, const struct as_loop_look *l,
		 const struct as_proc_sched *sched, int64_t end, bool ongoing)
{
	struct as_loop_period *p = &t->now;
	struct as_loop_block b = {.start_ns = p->start_ns,
				  .duration_ns = end - p->start_ns,
				  .cpu_ns = -1,
				  .ready_ns = -1,
				  .tid = t->tid,
				  .ongoing = ongoing};

	count(t, l->now);
	measure(t, sched, l->now, &b);
	t->seen_run += t->last_run - p->begin.run_ns;
	t->seen_yields += t->last_yields - p->yields_begin;
	find_cause(p, &b);
	as_votes_end(&p->votes, end);
	as_loop_blame(&b, &p->votes, l->to->profile);
	t->to->busy_ns += b.duration_ns;
	as_loops_add(l->to, t->to, &b);
}

/*
 * Waiting at two looks, and once on a CPU in between: one period, which lasted as
 * long as it ran and was ready, whether a look has met it or not.
 */
static void tell_stint(struct as_loop_thread *t, const struct as_loop_look *l,
		       const struct as_proc_sched *sched)
{
	int64_t used = sched->run_ns - t->idle.run_ns, ready = sched->wait_ns - t->idle.wait_ns;
	int64_t gap = l->now - t->idle_ns;

	if (t->idle.run_ns < 0 || sched->slices != t->idle.slices + 1 || used + ready > gap)
		return;
	struct as_loop_block b = {.start_ns = l->now - (gap + used + ready) / 2,
				  .duration_ns = used + ready,
				  .cpu_ns = used,
				  .ready_ns = ready,
				  .tid = t->tid,
				  .cause = ready > used ? AS_LOOP_READY : AS_LOOP_CPU};
	t->seen_run += used;
	t->seen_yields++;
	t->to->busy_ns += b.duration_ns;
	as_loops_add(l->to, t->to, &b);
}

/* One that was seen only once is too short to be measured by looks. */
static void end(struct as_loop_thread *t, const struct as_loop_look *l,
		const struct as_proc_sched *sched)
{
	if (t->now.looks > 1)
		tell(t, l, sched, turned_at(t, l), false);
	else
		tell_stint(t, l, sched);
	t->state = AS_LOOP_WAITS;
}

/* ── a look ───────────────────────────────────────────────────────────── */

static bool waited_unseen(struct as_loop_thread *t, const struct as_call *c,
			  const struct as_proc_sched *sched)
{
	struct as_loop_period *p = &t->now;

	if (sched->slices == t->last.slices)
		return false;
	int64_t yields = read_yields(t);
	bool moved = yields != p->yields;
	p->yields = yields;
	return moved && c->runs && t->runs && !p->ncalls;
}

static void see_busy(struct as_loop_thread *t, const struct as_loop_look *l,
		     const struct as_call *c)
{
	struct as_proc_sched sched = read_sched(t);

	if (!c->runs && as_call_ends(c->nr)) { /* nobody waits for it any more */
		if (t->state == AS_LOOP_BUSY)
			end(t, l, &sched);
		return;
	}
	if (t->state == AS_LOOP_BUSY && waited_unseen(t, c, &sched))
		end(t, l, &sched);
	if (t->state == AS_LOOP_WAITS)
		begin(t, l, &sched);
	t->last = sched;
	t->now.looks++;
	if (!c->runs)
		count_call(&t->now, c->nr);
}

static void see_waiting(struct as_loop_thread *t, const struct as_loop_look *l,
			const struct as_call *c)
{
	if (!t->to)
		become_loop(t, l);
	if (!t->to)
		return;
	struct as_proc_sched sched = read_sched(t);
	if (t->state == AS_LOOP_BUSY)
		end(t, l, &sched);
	else if (t->state == AS_LOOP_WAITS)
		tell_stint(t, l, &sched);
	t->last = t->idle = sched;
	t->idle_ns = l->now;
	if (l->now - t->counted_ns > AS_SECOND / 10)
		count(t, l->now);
	t->to->wait = as_call_name(c->nr);
	t->state = AS_LOOP_WAITS;
}

bool as_loop_thread_look(struct as_loop_thread *t, const struct as_loop_look *l,
			 struct as_call *ret_call)
{
	if (!as_loop_thread_call(t, ret_call))
		return false;
	if (as_loop_waits(ret_call, &t->epolls))
		see_waiting(t, l, ret_call);
	else if (t->to)
		see_busy(t, l, ret_call);
	t->runs = ret_call->runs;
	t->seen_ns = l->now;
	return true;
}

/* ── the end ──────────────────────────────────────────────────────────── */

/* As many as it gave up its CPU outside of the periods that were seen; each the mean of all. */
static void add_unseen(struct as_loop_thread *t)
{
	int64_t yields = t->last_yields - t->first_yields - t->seen_yields;
	int64_t run = t->last_run - t->first_run - t->seen_run;

	if (t->first_yields < 0 || t->first_run < 0 || yields <= 0 || run < 0)
		return;
	as_histogram_add(&t->to->busy, run / yields, (uint64_t)yields);
	t->to->busy_ns += run;
}

void as_loop_thread_finish(struct as_loop_thread *t, const struct as_loop_look *l)
{
	if (!t->to)
		return;
	if (t->state == AS_LOOP_BUSY && t->now.looks > 1)
		tell(t, l, &t->last, t->seen_ns, true);
	count(t, l->now);
	add_unseen(t);
	t->to->watched_ns = t->seen_ns - t->first_ns;
}
