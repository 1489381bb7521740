#include "stack/dumptasks.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

/* A task as it was read; its number is that of the moment's. */
struct found {
	struct as_pytask task;
	uint32_t name; /* text */
};

/* Somebody who awaits a future. */
struct waiter {
	uint64_t future;
	size_t task;
};

/* What is at hand while tasks are read. */
struct work {
	const struct as_dumptasks *d;
	struct as_pytask_list list;
	struct found *found;
	struct waiter *waiter;
	size_t n, nwaiters;
};

static void work_done(struct work *w)
{
	as_pytask_list_done(&w->list);
	free(w->found);
	free(w->waiter);
}

static int no_memory(struct as_err *err)
{
	return as_fail(err, AS_ENOMEM, "make room for tasks");
}

/* ── which there are ──────────────────────────────────────────────────── */

static uint32_t name_of(const struct work *w, const struct as_pytask *t)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_LINE);

	bool known = as_pytask_name(w->d->r, t, &b);

	w->d->to->names->bad |= b.bad;
	return known ? as_profile_text(w->d->to->names, as_buf_text(&b), b.len) : 0;
}

/* Task-2 comes before Task-10. */
static int by_name(const void *a, const void *b, void *arg)
{
	const struct found *x = a, *y = b;
	const struct as_profile *p = arg;
	int names = strverscmp(p->text[x->name], p->text[y->name]);

	return names ? names : (x->task.at > y->task.at) - (x->task.at < y->task.at);
}

static bool find_all(struct work *w)
{
	w->found = as_zalloc_n(w->list.n, sizeof *w->found);
	if (!w->found)
		return false;
	for (size_t i = 0; i < w->list.n; i++) {
		struct found *f = &w->found[w->n];

		if (!as_pytask_read(w->d->r, w->list.at[i], &f->task))
			continue;
		f->name = name_of(w, &f->task);
		w->n++;
	}
	qsort_r(w->found, w->n, sizeof *w->found, by_name, w->d->to->names);
	return true;
}

/* ── what one does ────────────────────────────────────────────────────── */

static bool is_pending(const struct work *w, uint64_t future)
{
	struct as_pyreader *r = w->d->r;
	uint32_t state = 0;

	return !as_pyis(r, future, "_asyncio.Future") ||
	       !as_pyread(r, as_pybody(r, future) + r->at->task.state, &state, sizeof state) ||
	       !state;
}

static enum as_task_doing doing(const struct work *w, const struct as_pytask *t,
				const struct as_pychain *chain)
{
	if (t->waiter)
		return is_pending(w, t->waiter) ? AS_TASK_AWAITS : AS_TASK_READY;
	return chain->doing == AS_PYCORO_CREATED ? AS_TASK_CREATED
	       : chain->doing == AS_PYCORO_RUNS  ? AS_TASK_RUNS
						 : AS_TASK_READY;
}

static uint32_t type_text(const struct work *w, uint64_t object)
{
	const struct as_pytype *t = as_pytype_of(w->d->r, object);
	const char *dot = t ? strrchr(t->name, '.') : NULL;
	const char *name = !t ? "" : dot ? dot + 1 : t->name;

	return as_profile_text(w->d->to->names, name, strlen(name));
}

static bool keep_chain(const struct work *w, const struct as_pychain *c, bool same,
		       struct as_moment_stack *to)
{
	to->frame = as_zalloc_n(c->n, sizeof *to->frame);
	if (!to->frame)
		return false;
	to->seen = !same    ? AS_SEEN_CHANGED
		   : !c->n  ? AS_SEEN_NONE
		   : c->cut ? AS_SEEN_CUT
			    : AS_SEEN_WHOLE;
	to->n = same ? c->n : 0;
	for (size_t i = 0; i < to->n; i++)
		to->frame[i].place = as_codes_place(w->d->codes, &c->at[i]);
	return true;
}

/* The task and its chain, read until nothing changed in between; false: it is none any more. */
static bool read_still(const struct work *w, struct as_pytask *t, struct as_pychain *ret,
		       bool *ret_same)
{
	enum { TRIES = 8 };
	struct as_pychain again;

	*ret_same = false;
	for (int i = 0; i < TRIES && !*ret_same; i++) {
		uint64_t waiter = t->waiter;

		as_pychain_read(w->d->r, t->coro, ret);
		as_pychain_read(w->d->r, t->coro, &again);
		if (!as_pytask_read(w->d->r, t->at, t))
			return false;
		*ret_same = waiter == t->waiter && as_pychain_same(ret, &again);
	}
	return true;
}

/* One that a thread was seen to run has that thread's stack, from its coroutine on. */
static bool take_running(const struct work *w, const struct as_task_seen *seen,
			 struct as_moment_task *to)
{
	const struct as_moment_thread *t = &w->d->to->thread[seen->thread];
	size_t n = t->stack.n - seen->depth;

	to->doing = AS_TASK_RUNS;
	to->tid = t->tid;
	to->stack.frame = as_zalloc_n(n, sizeof *to->stack.frame);
	if (!to->stack.frame)
		return false;
	to->stack.n = n;
	for (size_t i = 0; i < n; i++)
		to->stack.frame[i].place = t->stack.frame[seen->depth + i].place;
	return true;
}

static const struct as_task_seen *seen_running(const struct work *w, uint64_t task)
{
	for (size_t i = 0; i < w->d->nseen; i++)
		if (w->d->seen[i].task == task)
			return &w->d->seen[i];
	return NULL;
}

static bool take(const struct work *w, struct found *f, struct as_moment_task *to)
{
	const struct as_task_seen *seen = seen_running(w, f->task.at);
	struct as_pychain chain;
	bool same;

	const struct as_taskwatch_row *row =
		as_taskwatch_find(w->d->watch, &f->task, w->d->to->names->text[f->name]);

	*to = (struct as_moment_task){.name = f->name,
				      .ran_ns = row ? row->ran_ns : -1,
				      .awaited_ns = row ? row->awaited_ns : -1};
	if (seen)
		return take_running(w, seen, to);
	if (!read_still(w, &f->task, &chain, &same)) {
		to->doing = AS_TASK_READY;
		to->stack.seen = AS_SEEN_CHANGED;
		return true;
	}
	to->doing = doing(w, &f->task, &chain);
	to->what = f->task.waiter ? type_text(w, f->task.waiter) : 0;
	return keep_chain(w, &chain, same, &to->stack);
}

static bool take_all(struct work *w)
{
	struct as_moment *m = w->d->to;

	m->task = as_zalloc_n(w->n, sizeof *m->task);
	if (!m->task)
		return false;
	for (; m->ntasks < w->n; m->ntasks++)
		if (!take(w, &w->found[m->ntasks], &m->task[m->ntasks]))
			return false;
	return true;
}

/* ── who awaits whom ──────────────────────────────────────────────────── */

static int by_future(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;

	return (x->future > y->future) - (x->future < y->future);
}

static bool find_waiters(struct work *w)
{
	w->waiter = as_zalloc_n(w->n, sizeof *w->waiter);
	if (!w->waiter)
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (w->d->to->task[i].doing == AS_TASK_AWAITS)
			w->waiter[w->nwaiters++] = (struct waiter){w->found[i].task.waiter, i};
	qsort(w->waiter, w->nwaiters, sizeof *w->waiter, by_future);
	return true;
}

static bool link_to(struct as_moment_task *who, size_t task)
{
	for (size_t i = 0; i < who->nawaits; i++)
		if (who->awaits[i] == task)
			return true;
	if (!as_grow(&who->awaits, &who->awaits_cap, who->nawaits, sizeof *who->awaits, 4))
		return false;
	who->awaits[who->nawaits++] = task;
	return true;
}

/* All who await this future await the task that completes it. */
static bool link_waiters(const struct work *w, uint64_t future, size_t task)
{
	size_t from = 0, to = w->nwaiters;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (w->waiter[mid].future < future)
			from = mid + 1;
		else
			to = mid;
	}
	for (; from < w->nwaiters && w->waiter[from].future == future; from++)
		if (!link_to(&w->d->to->task[w->waiter[from].task], task))
			return false;
	return true;
}

static bool link_all(const struct work *w)
{
	uint64_t future[AS_PYTASK_WAKES];

	for (size_t i = 0; i < w->n; i++) {
		size_t n = as_pytask_wakes(w->d->r, &w->found[i].task, future);

		if (!link_waiters(w, w->found[i].task.at, i))
			return false;
		for (size_t k = 0; k < n; k++)
			if (!link_waiters(w, future[k], i))
				return false;
	}
	return true;
}

int as_dump_tasks(const struct as_dumptasks *d, const struct as_pyasyncio *asyncio, size_t n,
		  struct as_err *err)
{
	as_cleanup(work_done) struct work w = {.d = d};

	for (size_t i = 0; i < n; i++)
		if (!as_pytasks_list(d->r, &asyncio[i], &w.list))
			return no_memory(err);
	return find_all(&w) && take_all(&w) && find_waiters(&w) && link_all(&w) ? AS_OK
										: no_memory(err);
}
