#include "stack/tasks.h"

#include <string.h>

#include "os/remote.h"
#include "stack/pytext.h"

/* ── one of them ──────────────────────────────────────────────────────── */

/* None is what a task has where there is nothing. */
static uint64_t some(struct as_pyreader *r, uint64_t object)
{
	return object && !as_pyis(r, object, "NoneType") ? object : 0;
}

static bool read_c(struct as_pyreader *r, uint64_t at, struct as_pytask *ret)
{
	const struct as_py_objects *o = r->at;
	unsigned char t[256];
	uint32_t state;

	if (o->task.size > sizeof t || !as_pyread(r, as_pybody(r, at), t, o->task.size))
		return false;
	memcpy(&state, t + o->task.state, sizeof state);
	*ret = (struct as_pytask){.at = at,
				  .coro = as_word(t, o->task.coro),
				  .waiter = as_word(t, o->task.waiter),
				  .name = as_word(t, o->task.name),
				  .callback = as_word(t, o->task.callback),
				  .callbacks = as_word(t, o->task.callbacks)};
	return !state;
}

/* A task that is written in Python has everything in attributes. */
static bool read_python(struct as_pyreader *r, uint64_t at, struct as_pytask *ret)
{
	*ret = (struct as_pytask){.at = at,
				  .coro = as_pyattr(r, at, "_coro"),
				  .waiter = some(r, as_pyattr(r, at, "_fut_waiter")),
				  .name = as_pyattr(r, at, "_name"),
				  .callbacks = as_pyattr(r, at, "_callbacks")};
	return as_pystr_is(r, as_pyattr(r, at, "_state"), "PENDING");
}

bool as_pytask_read(struct as_pyreader *r, uint64_t at, struct as_pytask *ret)
{
	enum { READS_MOST = 1 << 10 };

	as_pyreader_allow(r, READS_MOST);
	bool pending =
		as_pyis(r, at, "_asyncio.Task") ? read_c(r, at, ret) : read_python(r, at, ret);

	return pending && ret->coro;
}

/* A name that nobody gave and nobody asked for is still a number. */
bool as_pytask_name(struct as_pyreader *r, const struct as_pytask *t, struct as_buf *out)
{
	const struct as_pytype *type = as_pytype_of(r, t->name);
	int64_t number;

	if (type && type->flags & AS_PY_IS_STR)
		return as_pytext_read(r->py, t->name, out);
	if (!as_pyint_small(r, t->name, &number))
		return false;
	as_buf_fmt(out, "Task-%lld", (long long)number);
	return true;
}

/* ── what its end completes ───────────────────────────────────────────── */

enum { CALLBACKS_MOST = 16, CELLS_MOST = 16 };

struct wakes {
	struct as_pyreader *r;
	uint64_t *future;
	size_t n;
};

static void wake(struct wakes *w, uint64_t object)
{
	if (!object || w->n == AS_PYTASK_WAKES || !as_pyis(w->r, object, "_asyncio.Future"))
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->future[i] == object)
			return;
	w->future[w->n++] = object;
}

/* gather, wait, shield: a function that has the future in a cell. */
static void wake_closure(struct wakes *w, uint64_t function)
{
	uint64_t cell[CELLS_MOST];
	uint64_t cells = as_pyword(w->r, as_pybody(w->r, function) + w->r->at->func);
	size_t n = as_pyitems(w->r, cells, cell, CELLS_MOST);

	for (size_t i = 0; i < n && i < CELLS_MOST; i++)
		wake(w, as_pyword(w->r, as_pybody(w->r, cell[i]) + AS_PY_CELL));
}

/* wait_for, until 3.11: a partial() of a function and the future. */
static void wake_partial(struct wakes *w, uint64_t partial)
{
	enum { ARGS = 24 };
	uint64_t arg[CELLS_MOST];
	uint64_t args = as_pyword(w->r, as_pybody(w->r, partial) + ARGS);
	size_t n = as_pyitems(w->r, args, arg, CELLS_MOST);

	for (size_t i = 0; i < n && i < CELLS_MOST; i++)
		wake(w, arg[i]);
}

static void wake_group(struct wakes *w, uint64_t group)
{
	wake(w, as_pyattr(w->r, group, "_on_completed_fut"));
}

static void wake_by(struct wakes *w, uint64_t callback)
{
	const struct as_pytype *t = as_pytype_of(w->r, callback);

	if (!t)
		return;
	if (!strcmp(t->name, "function"))
		wake_closure(w, callback);
	else if (!strcmp(t->name, "functools.partial"))
		wake_partial(w, callback);
	else if (!strcmp(t->name, "method")) /* of a TaskGroup */
		wake_group(w, as_pyword(w->r, as_pybody(w->r, callback) + AS_PY_METHOD_SELF));
}

static void wake_all(struct wakes *w, uint64_t first, uint64_t list)
{
	uint64_t pair[CALLBACKS_MOST], callback[2];
	size_t n = list ? as_pyitems(w->r, list, pair, CALLBACKS_MOST) : 0;

	wake_by(w, first);
	for (size_t i = 0; i < n && i < CALLBACKS_MOST; i++)
		if (as_pyitems(w->r, pair[i], callback, 2) == 2)
			wake_by(w, callback[0]);
}

size_t as_pytask_wakes(struct as_pyreader *r, const struct as_pytask *t,
		       uint64_t future[AS_PYTASK_WAKES])
{
	enum { READS_MOST = 1 << 13 };
	struct wakes w = {.r = r, .future = future};

	as_pyreader_allow(r, READS_MOST);
	wake_all(&w, t->callback, t->callbacks);
	for (size_t i = 0; i < w.n; i++)
		wake_all(&w, as_pyword(r, as_pybody(r, future[i]) + r->at->task.callback),
			 as_pyword(r, as_pybody(r, future[i]) + r->at->task.callbacks));
	return w.n;
}

/* ── the one that runs ────────────────────────────────────────────────── */

bool as_pytask_in(struct as_pyreader *r, const struct as_pytask *t, const struct as_pystack *s,
		  size_t *ret_depth)
{
	uint64_t frame = as_pycoro_frame(r, t->coro);

	for (size_t i = 0; frame && i < s->n; i++)
		if (s->at[i].at == frame) {
			*ret_depth = s->n - 1 - i;
			return true;
		}
	return false;
}

bool as_pytask_of(struct as_pyreader *r, const struct as_pyasyncio *a, uint64_t thread,
		  const struct as_pystack *s, struct as_pytask *ret, size_t *ret_depth)
{
	uint64_t task[AS_PYTASKS_RUNNING];
	size_t n = as_pytasks_running(r, a, thread, task);

	for (size_t i = 0; i < n; i++)
		if (as_pytask_read(r, task[i], ret) && as_pytask_in(r, ret, s, ret_depth))
			return true;
	return false;
}
