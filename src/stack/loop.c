#include "stack/loop.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/env.h"
#include "os/folder.h"
#include "os/proc.h"
#include "os/right.h"

enum { THREADS_MOST = 4096 };

static const int64_t step_most = 4 * AS_MSEC; /* between looks at a loop that waits */
static const int64_t step_least = AS_MSEC / 2;
static const int64_t stranger_step = 50 * AS_MSEC; /* at a thread that is no loop (yet)  */
static const int64_t list_step = 500 * AS_MSEC;
static const int64_t slack = AS_MSEC / 4; /* who is due so soon is due now      */

/* ── who is there ─────────────────────────────────────────────────────── */

static bool has(const struct as_loop_watch *w, pid_t tid)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->thread[i]->tid == tid)
			return true;
	return false;
}

/* 0, or the errno that says why it cannot be looked at. */
static int add(struct as_loop_watch *w, pid_t tid)
{
	struct as_loop_thread *t = NULL;

	if (w->n >= THREADS_MOST || !as_grow(&w->thread, &w->cap, w->n, sizeof *w->thread, 16))
		return ENOMEM;
	t = as_zalloc(sizeof *t);
	if (!t)
		return ENOMEM;
	if (!as_loop_thread_open(t, w->env, w->pid, tid)) {
		int os = errno;

		as_loop_thread_close(t);
		free(t);
		return os;
	}
	w->thread[w->n++] = t;
	return 0;
}

static int list(struct as_loop_watch *w, int64_t now)
{
	char path[32];
	int why = 0;

	(void)snprintf(path, sizeof path, "%d/task", (int)w->pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(w->env->proc, path)};
	if (f.fd < 0)
		return errno;
	for (const struct dirent *e; (e = as_folder_next(&f));) {
		uint64_t tid = 0;

		if (as_scan_u64(e->d_name, strlen(e->d_name), &tid) && tid <= INT32_MAX &&
		    !has(w, (pid_t)tid))
			why = add(w, (pid_t)tid);
	}
	w->list_ns = now + list_step;
	return w->n ? 0 : why ? why : ESRCH;
}

static void drop(struct as_loop_watch *w, size_t i, const struct as_loop_look *l)
{
	as_loop_thread_finish(w->thread[i], l);
	as_loop_thread_close(w->thread[i]);
	free(w->thread[i]);
	w->thread[i] = w->thread[--w->n];
}

/* ── looking ──────────────────────────────────────────────────────────── */

/*
 * The longer it is busy, the less a millisecond matters. The first thread is
 * most often the loop, and is watched as one before it is seen to wait.
 */
static int64_t pause_of(const struct as_loop_watch *w, const struct as_loop_thread *t, int64_t now)
{
	if (!t->to)
		return t->tid == w->pid ? w->step_ns : stranger_step;
	if (t->state != AS_LOOP_BUSY)
		return w->step_ns;
	int64_t by_age = (now - t->now.start_ns) / 128, half = w->step_ns / 2;
	return by_age > half ? by_age : half;
}

static void look_at_stack(struct as_loop_watch *w, struct as_loop_thread *t,
			  const struct as_call *call, int64_t now)
{
	struct as_loop_period *p = &t->now;

	if (t->state != AS_LOOP_BUSY || p->looks < 2 || now < t->stack_ns)
		return;
	struct as_vote deed = as_loop_deed(&w->stacks, t->tid, call->runs, call->nr);
	p->locked += deed.cause == AS_LOOP_LOCK || deed.cause == AS_LOOP_GIL;
	p->gil += deed.cause == AS_LOOP_GIL;
	as_loop_vote(&w->stacks, t->tid, &p->votes, deed,
		     !t->runs && p->stack_slices == t->last.slices, now);
	p->stack_slices = t->runs ? -1 : t->last.slices;
	t->stack_ns = now + (now - p->start_ns) / 16;
}

static bool look_at(struct as_loop_watch *w, struct as_loop_thread *t, const struct as_loop_look *l)
{
	struct as_call call;
	int64_t before = t->seen_ns;

	if (!as_loop_thread_look(t, l, &call))
		return false;
	if (t->to && before)
		as_histogram_add(&w->gaps, l->now - before, 1);
	look_at_stack(w, t, &call, l->now);
	t->due_ns = l->now + pause_of(w, t, l->now);
	return true;
}

static struct as_loop_look look_of(const struct as_loop_watch *w, int64_t now)
{
	return (struct as_loop_look){
		.env = w->env, .pid = w->pid, .to = w->to, .now = now, .step_ns = w->step_ns};
}

static int64_t look_at_all(struct as_loop_watch *w, int64_t now)
{
	struct as_loop_look l = look_of(w, now);
	int64_t next = w->list_ns;

	for (size_t i = 0; i < w->n; i++) {
		struct as_loop_thread *t = w->thread[i];

		l.now = as_now();
		if (t->due_ns <= l.now + slack && !look_at(w, t, &l))
			drop(w, i--, &l);
		else if (t->due_ns < next)
			next = t->due_ns;
	}
	return next;
}

int64_t as_loop_look(struct as_loop_watch *w, int64_t now)
{
	if (now >= w->list_ns) {
		(void)as_loop_stacks_ready(&w->stacks, now); /* not only when a block goes on */
		if (!w->exact.watch)
			(void)list(w, now);
		w->list_ns = now + list_step;
	}
	return w->exact.watch ? as_loop_exact_look(&w->exact, now) : look_at_all(w, now);
}

/* ── the kernel tells ─────────────────────────────────────────────────── */

/* Who waits already is told to the kernel; from then on it needs no looking. */
static void hand_over(struct as_loop_watch *w)
{
	for (; w->n; w->n--) {
		struct as_loop_thread *t = w->thread[w->n - 1];
		struct as_call c;

		if (as_loop_thread_call(t, &c) && as_loop_waits(&c, &t->epolls))
			as_loopwatch_seed(w->exact.watch, t->tid, c.nr, t->epolls);
		as_loop_thread_close(t);
		free(t);
	}
}

/* ASSAY_RUNG=proc or bpf holds us to one way; otherwise the better one that we get. */
static int open_exact(struct as_loop_watch *w, struct as_err *err)
{
	const char *only = getenv("ASSAY_RUNG");
	struct as_err refused;

	if (only && !strcmp(only, "proc"))
		return AS_OK;
	int r = as_loop_exact_open(&w->exact, w->env, w->pid, w->to, &w->stacks, &refused);
	if (r == AS_OK)
		hand_over(w);
	else if (only && !strcmp(only, "bpf"))
		*err = refused;
	return only && !strcmp(only, "bpf") ? r : AS_OK;
}

/* ── who never waited ─────────────────────────────────────────────────── */

/* How long the first thread was on a CPU or ready for one so far; 0: nobody tells. */
static int64_t first_ns(const struct as_loop_watch *w)
{
	struct as_proc_sched s;
	struct as_err ignored;
	char path[64], text[96];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task/%d/schedstat", (int)w->pid, (int)w->pid);
	if (as_read_at(w->env->proc, path, text, sizeof text, &n, &ignored) < 0 ||
	    !as_parse_sched(text, n, &s))
		return 0;
	return s.run_ns + s.wait_ns;
}

/* A loop that is held all the time is seen by nothing but this. */
static void note_held(const struct as_loop_watch *w)
{
	struct as_loops *to = w->to;
	int64_t now = first_ns(w), ns = now && w->first_ns ? now - w->first_ns : 0;

	for (size_t i = 0; i < to->n; i++)
		if (to->loop[i]->tid == w->pid)
			return;
	if (2 * ns < to->duration_ns)
		return;
	to->held_tid = w->pid;
	to->held_ns = ns;
}

/* ── beginning and end ────────────────────────────────────────────────── */

static int refuse(const struct as_env *env, pid_t pid, int os, struct as_err *err)
{
	if (os == ESRCH || os == ENOENT)
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)pid);
	int r = as_fail_errno(err, os, "look at process %d", (int)pid);
	return os == EPERM || os == EACCES ? as_right_hint(env, pid, err) : r;
}

int as_loop_open(struct as_loop_watch *w, const struct as_env *env, pid_t pid, struct as_loops *to,
		 struct as_err *err)
{
	int64_t third = to->threshold_ns / 3;

	*w = (struct as_loop_watch){.env = env, .pid = pid, .to = to};
	w->step_ns = third > step_most ? step_most : third < step_least ? step_least : third;
	to->start_ns = as_now();
	w->first_ns = first_ns(w);
	int os = list(w, to->start_ns);
	if (os)
		return refuse(env, pid, os, err);
	int r = as_loop_stacks_open(&w->stacks, env, pid, to->profile, err);
	return r < 0 ? r : open_exact(w, err);
}

void as_loop_finish(struct as_loop_watch *w, int64_t now)
{
	struct as_loop_look l = look_of(w, now);

	while (w->n)
		drop(w, w->n - 1, &l);
	if (w->exact.watch)
		as_loop_exact_finish(&w->exact, now);
	w->to->duration_ns = now - w->to->start_ns;
	w->to->resolution_ns = as_histogram_at(&w->gaps, 0.95);
	w->to->blind = w->stacks.found ? (struct as_err){0} : w->stacks.why;
	as_loops_settle(w->to);
	note_held(w);
}

void as_loop_close(struct as_loop_watch *w)
{
	for (size_t i = 0; i < w->n; i++) {
		as_loop_thread_close(w->thread[i]);
		free(w->thread[i]);
	}
	free(w->thread);
	as_loop_exact_close(&w->exact);
	as_loop_stacks_close(&w->stacks);
	*w = (struct as_loop_watch){0};
}
