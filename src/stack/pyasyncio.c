#include "stack/pyasyncio.h"

#include "base/cleanup.h"
#include "base/fault.h"
#include "os/remote.h"
#include "stack/mapped.h"

enum { TELLS_FROM = 14, THREADS_MOST = 1 << 12 };

/* ── where it keeps them ──────────────────────────────────────────────── */

/* A name of asyncio's, of its part in C or, without that, in Python. */
static uint64_t asyncio_has(struct as_pyreader *r, uint64_t interp, const char *name)
{
	uint64_t found = as_pymodule_find(r, interp, "_asyncio", name);

	return found ? found : as_pymodule_find(r, interp, "asyncio.tasks", name);
}

static bool ask(const struct as_env *env, const struct as_pyreader *r, struct as_py_asyncio *ret)
{
	unsigned char table[AS_PY_ASYNCIO_BYTES];
	uint64_t at, size;

	return as_mapped_section(env, r->py->pid, ".AsyncioDebug", &at, &size) &&
	       size >= sizeof table && !as_remote_read(r->py->pid, at, table, sizeof table) &&
	       as_py_asyncio(table, r->at, r->more, ret);
}

void as_pyasyncio_find(const struct as_env *env, struct as_pyreader *r, uint64_t interp,
		       struct as_pyasyncio *a)
{
	*a = (struct as_pyasyncio){.interp = interp, .told = a->told, .at = a->at};
	if (!asyncio_has(r, interp, "__name__"))
		return;
	a->all = asyncio_has(r, interp, "_all_tasks");
	a->scheduled = asyncio_has(r, interp, "_scheduled_tasks");
	a->eager = asyncio_has(r, interp, "_eager_tasks");
	a->current = asyncio_has(r, interp, "_current_tasks");
	if (r->at->minor >= TELLS_FROM && a->told == AS_TOLD_NOT_YET &&
	    as_pymodule_find(r, interp, "_asyncio", "Task"))
		a->told = ask(env, r, &a->at) ? AS_TOLD : AS_TOLD_NOTHING;
}

bool as_pyasyncio_found(const struct as_pyasyncio *a)
{
	return a->told == AS_TOLD || (a->current && (a->all || a->scheduled));
}

int as_pyasyncio_fail(const struct as_python *py, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "asyncio of process %d does not tell where its tasks are",
		      (int)py->pid);
	return as_hint(err, "its build has no section .AsyncioDebug, or one of another version");
}

/* ── all of them ──────────────────────────────────────────────────────── */

void as_pytask_list_done(struct as_pytask_list *l)
{
	free(l->at);
	*l = (struct as_pytask_list){0};
}

static bool add(struct as_pytask_list *l, uint64_t task)
{
	if (l->n >= AS_PYTASKS_MOST || !as_grow(&l->at, &l->cap, l->n, sizeof *l->at, 64))
		return l->n >= AS_PYTASKS_MOST;
	l->at[l->n++] = task;
	return true;
}

/* The items of a set; those of a WeakSet are weak references. */
static bool add_set(struct as_pyreader *r, uint64_t set, bool weak, struct as_pytask_list *l)
{
	uint64_t used = as_pyword(r, as_pybody(r, set) + AS_PY_SET_USED);
	size_t n = used < AS_PYTASKS_MOST ? (size_t)used : AS_PYTASKS_MOST;
	as_auto_free uint64_t *item = as_zalloc_n(n, sizeof *item);

	if (!item)
		return false;
	n = as_pyset_items(r, set, item, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t task =
			weak ? as_pyword(r, as_pybody(r, item[i]) + AS_PY_WEAKREF) : item[i];

		if (task && !add(l, task))
			return false;
	}
	return true;
}

static bool add_sets(struct as_pyreader *r, const struct as_pyasyncio *a, struct as_pytask_list *l)
{
	const uint64_t weak[] = {a->all, a->scheduled};

	for (size_t i = 0; i < AS_LEN(weak); i++) {
		uint64_t data = weak[i] ? as_pyattr(r, weak[i], "data") : 0;

		if (data && !add_set(r, data, true, l))
			return false;
	}
	return !a->eager || add_set(r, a->eager, false, l);
}

/* ── in lists ─────────────────────────────────────────────────────────── */

enum walk { WHOLE, CHANGED, NO_MEMORY };

/*
 * The process runs on, and the list may change under our eyes. Each node must
 * lead back to the one that led to it: what has become part of another list,
 * or of nothing, does not, and there are no circles.
 */
static enum walk follow(struct as_pyreader *r, uint64_t head, uint32_t node,
			struct as_pytask_list *l)
{
	uint64_t from = head, at = as_pyword(r, head), link[2];

	for (size_t i = 0; at && at != head && i < AS_PYTASKS_MOST; i++) {
		if (!as_pyread(r, at, link, sizeof link) || link[1] != from)
			return CHANGED;
		if (!add(l, at - node))
			return NO_MEMORY;
		from = at;
		at = link[0];
	}
	return WHOLE;
}

/* What was seen of a list that does not stand still is better than nothing. */
static bool add_linked(struct as_pyreader *r, uint64_t head, uint32_t node,
		       struct as_pytask_list *l)
{
	enum { TRIES = 4 };
	enum walk w = CHANGED;
	size_t before = l->n;

	for (int i = 0; i < TRIES && w == CHANGED; i++) {
		l->n = before;
		w = follow(r, head, node, l);
	}
	return w != NO_MEMORY;
}

static uint64_t first_thread(struct as_pyreader *r, const struct as_pyasyncio *a)
{
	return as_pyword(r, a->interp + r->py->at.interp.threads);
}

static uint64_t next_thread(struct as_pyreader *r, uint64_t thread)
{
	return as_pyword(r, thread + r->py->at.thread.next);
}

static bool add_lists(struct as_pyreader *r, const struct as_pyasyncio *a, struct as_pytask_list *l)
{
	uint64_t thread = first_thread(r, a);

	for (int i = 0; thread && i < THREADS_MOST; i++) {
		if (!add_linked(r, thread + a->at.thread_tasks, a->at.node, l))
			return false;
		thread = next_thread(r, thread);
	}
	return add_linked(r, a->interp + a->at.interp_tasks, a->at.node, l);
}

bool as_pytasks_list(struct as_pyreader *r, const struct as_pyasyncio *a,
		     struct as_pytask_list *ret)
{
	enum { READS_MOST = 1 << 18 };

	as_pyreader_allow(r, READS_MOST);
	return add_sets(r, a, ret) && (a->told != AS_TOLD || add_lists(r, a, ret));
}

/* ── those that run now ───────────────────────────────────────────────── */

static size_t by_loops(struct as_pyreader *r, uint64_t current, uint64_t *task)
{
	struct as_pydict d;
	uint64_t loop;
	size_t n = 0;

	if (!current || !as_pydict_open(r, current, &d))
		return 0;
	while (n < AS_PYTASKS_RUNNING && as_pydict_next(&d, &loop, &task[n]))
		n++;
	return n;
}

static size_t by_threads(struct as_pyreader *r, const struct as_pyasyncio *a, uint64_t *task,
			 size_t max)
{
	uint64_t thread = first_thread(r, a);
	size_t n = 0;

	for (int i = 0; thread && i < THREADS_MOST && n < max; i++) {
		task[n] = as_pyword(r, thread + a->at.thread_task);
		n += task[n] != 0;
		thread = next_thread(r, thread);
	}
	return n;
}

size_t as_pytasks_running(struct as_pyreader *r, const struct as_pyasyncio *a, uint64_t thread,
			  uint64_t task[AS_PYTASKS_RUNNING])
{
	as_pyreader_allow(r, AS_PYTASKS_RUNNING + 2 * THREADS_MOST);
	size_t n = by_loops(r, a->current, task);

	if (a->told != AS_TOLD || n == AS_PYTASKS_RUNNING)
		return n;
	if (!thread)
		return n + by_threads(r, a, task + n, AS_PYTASKS_RUNNING - n);
	task[n] = as_pyword(r, thread + a->at.thread_task);
	return n + (task[n] != 0);
}
