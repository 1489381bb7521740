#include "stack/dump.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "os/call.h"
#include "stack/code.h"
#include "stack/dumptasks.h"
#include "stack/locals.h"
#include "stack/pyrepr.h"
#include "stack/pytext.h"
#include "stack/states.h"
#include "stack/threadnames.h"

/* All that is needed while a moment is taken. */
struct dump {
	const struct as_env *env;
	const struct as_dump_config *config;
	struct as_python py;
	struct as_pyreader reader;
	bool objects; /* can be read: those of this version are known */
	struct as_pythreads threads;
	struct as_codes codes;
	struct as_pystate *state; /* of each thread */
	struct as_pystack *stack, *again;
	struct as_pyasyncio asyncio[AS_PYGILS_MOST]; /* of each interpreter that has threads */
	size_t ninterps;
	struct as_task_seen *seen; /* tasks in the stacks of threads */
	size_t nseen, seen_cap;
	struct as_taskwatch watch;
	struct as_moment *to;
};

static void dump_done(struct dump *d)
{
	as_pythreads_done(&d->threads);
	as_codes_done(&d->codes);
	free(d->state);
	free(d->stack);
	free(d->again);
	free(d->seen);
	as_taskwatch_done(&d->watch);
	as_moment_free(d->to);
}

/* What a buffer holds; without memory for it there is no dump. */
static uint32_t keep(struct dump *d, const struct as_buf *b)
{
	d->to->names->bad |= b->bad;
	return as_profile_text(d->to->names, as_buf_text(b), b->len);
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
	if (as_read_all(d->env->proc, path, &words, &ignored) < 0) {
		d->to->names->bad |= words.bad;
		return;
	}
	while (words.len && !words.p[words.len - 1])
		words.len--;
	for (size_t i = 0; i < words.len; i++)
		if (!words.p[i])
			words.p[i] = ' ';
	d->to->command = keep(d, &words);
}

/* ── stacks ───────────────────────────────────────────────────────────── */

/* As often as it takes, but not for long. */
static enum as_snap snapshot(struct as_pythread *t, struct as_pystack *to)
{
	enum { TRIES = 20 };
	const struct timespec pause = as_timespec(AS_MSEC);
	struct as_snap_count ignored = {0};
	enum as_snap r = as_snapshot(&t->snap, to, &ignored);

	for (int i = 1; i < TRIES && r == AS_SNAP_REJECTED; i++) {
		(void)nanosleep(&pause, NULL);
		r = as_snapshot(&t->snap, to, &ignored);
	}
	return r;
}

/* False for want of memory. */
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
	switch (snapshot(t, d->stack)) {
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

/* ── variables ────────────────────────────────────────────────────────── */

static uint32_t object_text(struct dump *d, uint64_t object)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	as_pyrepr(&d->reader, object, &b);
	return keep(d, &b);
}

static uint32_t name_text(struct dump *d, uint64_t name)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	if (!as_pytext_read(&d->py, name, &b))
		as_buf_byte(&b, '?');
	return keep(d, &b);
}

static bool take_locals(struct dump *d, const struct as_pyframe *from, struct as_moment_frame *to)
{
	struct as_pylocal local[AS_PYLOCALS_MOST];
	size_t n = as_pylocals(&d->reader, from, local);

	to->local = as_zalloc_n(n, sizeof *to->local);
	if (!to->local)
		return false;
	to->nlocals = n;
	for (size_t i = 0; i < n; i++)
		to->local[i] = (struct as_moment_local){name_text(d, local[i].name),
							object_text(d, local[i].value)};
	return true;
}

/* How many frames from the root on two looks have in common; only the leaf may have moved. */
static size_t in_common(const struct as_pystack *a, const struct as_pystack *b)
{
	size_t most = a->n < b->n ? a->n : b->n, n = 0;

	for (; n < most; n++) {
		const struct as_pyframe *x = &a->at[a->n - 1 - n], *y = &b->at[b->n - 1 - n];
		bool leaf = n + 1 == a->n && a->n == b->n;

		if (x->at != y->at || x->code != y->code || (x->instr != y->instr && !leaf))
			break;
	}
	return n;
}

static void forget_locals(struct as_moment_frame *f)
{
	free(as_take(f->local));
	f->nlocals = 0;
	f->changed = true;
}

/* Variables are read between two looks at the stack: they count if it was the same in both. */
static bool take_all_locals(struct dump *d, struct as_pythread *t, struct as_moment_stack *to)
{
	for (size_t i = 0; i < to->n; i++)
		if (!take_locals(d, &d->stack->at[to->n - 1 - i], &to->frame[i]))
			return false;
	bool seen = snapshot(t, d->again) == AS_SNAP_OK && !d->stack->cut;

	for (size_t i = seen ? in_common(d->stack, d->again) : 0; i < to->n; i++)
		forget_locals(&to->frame[i]);
	return true;
}

/* A program that runs gets some chances to stand still in the meantime. */
static bool take_with_locals(struct dump *d, struct as_pythread *t, struct as_moment_stack *to)
{
	enum { TRIES = 4 };

	for (int i = 0; i < TRIES; i++) {
		as_moment_stack_done(to);
		if (!take_stack(d, t, to) || !take_all_locals(d, t, to))
			return false;
		if (!to->n || !to->frame[to->n - 1].changed)
			break;
	}
	return true;
}

/* ── tasks ────────────────────────────────────────────────────────────── */

/* False: its asyncio does not say where its tasks are. */
static bool find_interps(struct dump *d)
{
	for (size_t i = 0; i < d->threads.n && d->ninterps < AS_PYGILS_MOST; i++) {
		uint64_t interp = d->threads.at[i]->interp;
		size_t k = 0;

		while (k < d->ninterps && d->asyncio[k].interp != interp)
			k++;
		if (k < d->ninterps)
			continue;
		as_pyasyncio_find(d->env, &d->reader, interp, &d->asyncio[k]);
		if (d->asyncio[k].told == AS_TOLD_NOTHING)
			return false;
		d->ninterps++;
	}
	return true;
}

/* Does this thread run a task? Its stack has just been read. False for want of memory. */
static bool see_task(struct dump *d, const struct as_pythread *t, size_t thread)
{
	struct as_pytask task;
	size_t depth = 0, k = 0;

	while (k < d->ninterps && d->asyncio[k].interp != t->interp)
		k++;
	if (k == d->ninterps ||
	    !as_pytask_of(&d->reader, &d->asyncio[k], t->snap.thread, d->stack, &task, &depth))
		return true;
	if (!as_grow(&d->seen, &d->seen_cap, d->nseen, sizeof *d->seen, 8))
		return false;
	d->seen[d->nseen++] = (struct as_task_seen){task.at, thread, depth};
	return true;
}

static bool watch_tasks(struct dump *d)
{
	if (!d->config->watch_ns)
		return true;
	bool watched = as_taskwatch_run(&d->watch, &d->reader, d->asyncio, d->ninterps,
					d->config->watch_ns);

	d->to->watched_ns = d->watch.watched_ns;
	return watched;
}

static int take_tasks(struct dump *d, struct as_err *err)
{
	const struct as_dumptasks t = {&d->reader, &d->codes, d->to, &d->watch, d->seen, d->nseen};

	return d->config->tasks ? as_dump_tasks(&t, d->asyncio, d->ninterps, err) : AS_OK;
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

/* Python's own name of it, or the kernel's. */
static void take_name(struct dump *d, const struct as_pythread *t, struct as_moment_thread *to)
{
	struct as_threadname n = {.name = AS_BUF(AS_BUF_LINE)};

	to->name = t->name[0] ? text(d, t->name) : 0;
	if (!d->objects)
		return;
	as_threadname_read(&d->reader, t, &n);
	if (n.name.len || n.name.bad)
		to->name = keep(d, &n.name);
	to->known = n.known;
	to->daemon = n.daemon;
	as_buf_done(&n.name);
}

static bool take_thread(struct dump *d, struct as_pythread *t, const struct as_pystate *s)
{
	struct as_moment *m = d->to;

	if (!as_grow(&m->thread, &m->threads_cap, m->nthreads, sizeof *m->thread, 16))
		return false;
	struct as_moment_thread *to = &m->thread[m->nthreads++];
	*to = (struct as_moment_thread){
		.tid = t->tid,
		.doing = s->doing,
		.call = s->doing == AS_DOING_WANTS ? 0 : call_text(d, s->call),
		.gil = s->gil,
	};
	take_name(d, t, to);
	if (!(d->config->locals ? take_with_locals(d, t, &to->stack)
				: take_stack(d, t, &to->stack)))
		return false;
	return !d->config->tasks || !to->stack.n || see_task(d, t, m->nthreads - 1);
}

static int by_tid(const void *a, const void *b)
{
	const struct as_moment_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Python lists the newest first; the main thread's number is the least. */
static int find_threads(struct dump *d, struct as_err *err)
{
	enum { TRIES = 3 };

	for (int i = 0; i < TRIES; i++) /* the list may change under our eyes */
		if (as_pythreads_refresh(&d->threads) && d->threads.n)
			return AS_OK;
	return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)d->py.pid);
}

/* Watching takes its time: who is there afterwards is looked for again. */
static int find_and_watch(struct dump *d, struct as_err *err)
{
	int r = find_threads(d, err);

	if (r < 0 || !d->config->tasks)
		return r;
	if (!find_interps(d))
		return as_pyasyncio_fail(&d->py, err);
	if (!watch_tasks(d))
		return as_fail(err, AS_ENOMEM, "make room for tasks");
	return d->config->watch_ns ? find_threads(d, err) : AS_OK;
}

static int take_threads(struct dump *d, struct as_err *err)
{
	int r = find_and_watch(d, err);

	if (r < 0)
		return r;
	d->state = as_zalloc_n(d->threads.n, sizeof *d->state);
	if (!d->state)
		return as_fail(err, AS_ENOMEM, "make room for threads");
	as_pystates_read(&d->threads, d->state);
	for (size_t i = 0; i < d->threads.n; i++)
		if (!take_thread(d, d->threads.at[i], &d->state[i]))
			return as_fail(err, AS_ENOMEM, "make room for a thread");
	return AS_OK;
}

/* ── a moment ─────────────────────────────────────────────────────────── */

static int no_objects(const struct dump *d, struct as_err *err)
{
	return as_fail(err, AS_EUNSUP, "objects of Python 3.%u%s cannot be read yet",
		       (unsigned)d->py.at.minor, d->py.at.free_threaded ? "t" : "");
}

static int make_room(struct dump *d, struct as_err *err)
{
	d->stack = as_zalloc(sizeof *d->stack);
	d->again = as_zalloc(sizeof *d->again);
	if (!d->stack || !d->again)
		return as_fail(err, AS_ENOMEM, "make room for a stack");
	d->to = as_moment_new(err);
	return d->to ? AS_OK : err->code;
}

static int prepare(struct dump *d, pid_t pid, struct as_err *err)
{
	int r = as_python_find(d->env, pid, &d->py, err);

	if (r == AS_OK)
		r = make_room(d, err);
	if (r < 0)
		return r;
	d->objects = as_pyreader_init(&d->reader, &d->py);
	if ((d->config->locals || d->config->tasks) && !d->objects)
		return no_objects(d, err);
	as_pythreads_init(&d->threads, d->env, &d->py);
	as_codes_init(&d->codes, &d->py, d->to->names);
	return AS_OK;
}

static void take_head(struct dump *d)
{
	d->to->pid = d->py.pid;
	d->to->version = d->py.version;
	d->to->taken_unix_ns = as_clock(CLOCK_REALTIME);
	d->to->locals = d->config->locals;
	d->to->tasks = d->config->tasks;
	read_command(d);
}

int as_dump(const struct as_env *env, pid_t pid, const struct as_dump_config *config,
	    struct as_moment **ret, struct as_err *err)
{
	as_cleanup(dump_done) struct dump d = {.env = env, .config = config};
	int r = prepare(&d, pid, err);

	if (r < 0)
		return r;
	take_head(&d);
	r = take_threads(&d, err);
	if (r == AS_OK)
		r = take_tasks(&d, err);
	if (d.to->nthreads)
		qsort(d.to->thread, d.to->nthreads, sizeof *d.to->thread, by_tid);
	if (r == AS_OK)
		r = as_profile_ok(d.to->names, err);
	if (r == AS_OK)
		*ret = as_take(d.to);
	return r;
}
