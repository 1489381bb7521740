#include "stack/dump.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "os/call.h"
#include "stack/code.h"
#include "stack/states.h"

/* All that is needed while a moment is taken. */
struct dump {
	const struct as_env *env;
	struct as_python py;
	struct as_pythreads threads;
	struct as_codes codes;
	struct as_pygils gils;
	struct as_pystack *stack;
	struct as_moment *to;
};

static void dump_done(struct dump *d)
{
	as_pythreads_done(&d->threads);
	as_codes_done(&d->codes);
	free(d->stack);
	as_moment_free(d->to);
}

static uint32_t text(struct dump *d, const char *s)
{
	return s ? as_profile_text(d->to->names, s, strlen(s)) : 0;
}

/* ── the process ──────────────────────────────────────────────────────── */

/* The words of its command line; what is behind their end stays away. */
static void read_command(struct dump *d)
{
	as_auto_buf struct as_buf words = AS_BUF(AS_BUF_FILE);
	struct as_err ignored;
	char path[32];

	(void)snprintf(path, sizeof path, "%d/cmdline", (int)d->py.pid);
	if (as_read_all(d->env->proc, path, &words, &ignored) < 0)
		return;
	while (words.len && !words.p[words.len - 1])
		words.len--;
	for (size_t i = 0; i < words.len; i++)
		if (!words.p[i])
			words.p[i] = ' ';
	d->to->command = as_profile_text(d->to->names, as_buf_text(&words), words.len);
}

/* ── stacks ───────────────────────────────────────────────────────────── */

/* As often as it takes, but not for long. */
static enum as_snap snapshot(struct dump *d, struct as_pythread *t)
{
	enum { TRIES = 20 };
	const struct timespec pause = as_timespec(AS_MSEC);
	struct as_snap_count ignored = {0};
	enum as_snap r = as_snapshot(&t->snap, d->stack, &ignored);

	for (int i = 1; i < TRIES && r == AS_SNAP_REJECTED; i++) {
		(void)nanosleep(&pause, NULL);
		r = as_snapshot(&t->snap, d->stack, &ignored);
	}
	return r;
}

static bool keep_stack(struct dump *d, struct as_moment_stack *to)
{
	const struct as_pystack *s = d->stack;

	to->frame = as_zalloc_n(s->n, sizeof *to->frame);
	if (!to->frame)
		return false;
	to->seen = s->cut ? AS_SEEN_CUT : AS_SEEN_WHOLE;
	to->n = s->n;
	for (size_t i = 0; i < s->n; i++)
		to->frame[i].place = as_codes_place(&d->codes, &s->at[s->n - 1 - i]);
	return true;
}

/* False for want of memory only. */
static bool take_stack(struct dump *d, struct as_pythread *t, struct as_moment_stack *to)
{
	switch (snapshot(d, t)) {
	case AS_SNAP_OK:
		return keep_stack(d, to);
	case AS_SNAP_REJECTED:
		to->seen = AS_SEEN_CHANGED;
		return true;
	case AS_SNAP_EMPTY:
	case AS_SNAP_GONE:
		break;
	}
	to->seen = AS_SEEN_NONE;
	return true;
}

/* ── threads ──────────────────────────────────────────────────────────── */

static uint32_t call_text(struct dump *d, int32_t nr)
{
	char number[32];

	if (nr < 0 || as_call_name(nr))
		return text(d, nr < 0 ? NULL : as_call_name(nr));
	(void)snprintf(number, sizeof number, "call %d", (int)nr);
	return text(d, number);
}

static bool take_thread(struct dump *d, struct as_pythread *t)
{
	struct as_moment *m = d->to;
	struct as_pystate s = as_pystate_of(&d->threads, t, &d->gils);

	if (!as_grow(&m->thread, &m->threads_cap, m->nthreads, sizeof *m->thread, 16))
		return false;
	m->thread[m->nthreads++] = (struct as_moment_thread){
		.tid = t->tid,
		.name = t->name[0] ? text(d, t->name) : 0,
		.doing = s.doing,
		.call = s.doing == AS_DOING_WANTS ? 0 : call_text(d, s.call),
		.gil = s.gil,
	};
	return take_stack(d, t, &m->thread[m->nthreads - 1].stack);
}

static int by_tid(const void *a, const void *b)
{
	const struct as_moment_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Python lists the newest first; the main thread's number is the least. */
static int take_threads(struct dump *d, struct as_err *err)
{
	if (!as_pythreads_refresh(&d->threads) || !d->threads.n)
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)d->py.pid);
	as_pygils_read(&d->threads, &d->gils);
	for (size_t i = 0; i < d->threads.n; i++)
		if (!take_thread(d, d->threads.at[i]))
			return as_fail(err, AS_ENOMEM, "make room for a thread");
	qsort(d->to->thread, d->to->nthreads, sizeof *d->to->thread, by_tid);
	return AS_OK;
}

/* ── a moment ─────────────────────────────────────────────────────────── */

static int prepare(struct dump *d, pid_t pid, struct as_err *err)
{
	int r = as_python_find(d->env, pid, &d->py, err);

	if (r < 0)
		return r;
	d->stack = as_zalloc(sizeof *d->stack);
	if (!d->stack)
		return as_fail(err, AS_ENOMEM, "make room for a stack");
	d->to = as_moment_new(err);
	if (!d->to)
		return err->code;
	as_pythreads_init(&d->threads, d->env, &d->py);
	as_codes_init(&d->codes, &d->py, d->to->names);
	return AS_OK;
}

int as_dump(const struct as_env *env, pid_t pid, struct as_moment **ret, struct as_err *err)
{
	as_cleanup(dump_done) struct dump d = {.env = env};
	int r = prepare(&d, pid, err);

	if (r < 0)
		return r;
	d.to->pid = pid;
	d.to->version = d.py.version;
	d.to->taken_unix_ns = as_clock(CLOCK_REALTIME);
	read_command(&d);
	r = take_threads(&d, err);
	if (r == AS_OK)
		r = as_profile_ok(d.to->names, err);
	if (r == AS_OK)
		*ret = as_take(d.to);
	return r;
}
