#include "stack/tasksight.h"

#include "base/cleanup.h"
#include "base/clock.h"

/* What takes longer the more modules or tasks there are is done in one of so many parts of time. */
enum { SEEK_SHARE = 100, LIST_SHARE = 20 };

int as_tasksight_init(struct as_tasksight *t, const struct as_env *env, const struct as_python *py,
		      struct as_err *err)
{
	*t = (struct as_tasksight){.env = env, .last_ns = as_now()};
	if (!as_pyreader_init(&t->r, py))
		return as_fail(err, AS_EUNSUP, "tasks of Python 3.%u%s cannot be read yet",
			       (unsigned)py->at.minor, py->at.free_threaded ? "t" : "");
	as_pyreader_allow(&t->r, 1);
	as_tasksight_refresh(t, as_pyword(&t->r, py->runtime + py->at.runtime.interpreters),
			     t->last_ns);
	return t->asyncio.told == AS_TOLD_NOTHING ? as_pyasyncio_fail(py, err) : AS_OK;
}

void as_tasksight_refresh(struct as_tasksight *t, uint64_t interp, int64_t now)
{
	if (now < t->refresh_ns && interp == t->asyncio.interp)
		return;
	int64_t began = as_clock(CLOCK_THREAD_CPUTIME_ID);

	(void)as_pyreader_init(&t->r, t->r.py);
	as_pyasyncio_find(t->env, &t->r, interp, &t->asyncio);
	int64_t pause = (as_clock(CLOCK_THREAD_CPUTIME_ID) - began) * SEEK_SHARE;
	bool last = as_pyasyncio_found(&t->asyncio) || pause > AS_SECOND;

	t->refresh_ns = now + (last ? AS_SECOND : pause);
}

static void remember(struct as_tasksight *t, uint64_t task)
{
	for (size_t i = 0; i < AS_TASKSIGHT_RECENT; i++)
		if (t->recent[i] == task)
			return;
	t->recent[t->nrecent++ % AS_TASKSIGHT_RECENT] = task;
}

/*
 * The stack was read a moment ago, and by now the loop may be at another task:
 * then it was perhaps one of those that ran lately.
 */
static bool find_recent(struct as_tasksight *t, const struct as_pystack *s, struct as_pytask *ret)
{
	size_t depth;

	for (size_t i = 0; i < AS_TASKSIGHT_RECENT; i++)
		if (t->recent[i] && as_pytask_read(&t->r, t->recent[i], ret) &&
		    as_pytask_in(&t->r, ret, s, &depth))
			return true;
	return false;
}

bool as_tasksight_name(struct as_tasksight *t, uint64_t thread, const struct as_pystack *s,
		       struct as_buf *name)
{
	struct as_pytask task;
	size_t depth;

	if (as_pytask_of(&t->r, &t->asyncio, thread, s, &task, &depth))
		remember(t, task.at);
	else if (!find_recent(t, s, &task))
		return false;
	return as_pytask_name(&t->r, &task, name);
}

/* Its chain of coroutines, if it stood still while it was read twice. */
static bool read_awaiting(struct as_tasksight *t, uint64_t at, struct as_pytask *task,
			  struct as_pychain *ret)
{
	struct as_pychain again;

	if (!as_pytask_read(&t->r, at, task) || !task->waiter)
		return false;
	uint64_t waiter = task->waiter;

	as_pychain_read(&t->r, task->coro, ret);
	as_pychain_read(&t->r, task->coro, &again);
	return as_pychain_same(ret, &again) && ret->doing == AS_PYCORO_SUSPENDED &&
	       as_pytask_read(&t->r, at, task) && task->waiter == waiter;
}

/* What is told of each. */
struct told {
	struct as_pystack *stack;
	int64_t since;
	as_tasksight_fn fn;
	void *arg;
};

static void tell(struct as_tasksight *t, uint64_t at, const struct told *to)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);
	struct as_pystack *s = to->stack;
	struct as_pychain chain;
	struct as_pytask task;

	if (!read_awaiting(t, at, &task, &chain) || !as_pytask_name(&t->r, &task, &name))
		return;
	s->n = chain.n;
	s->cut = false; /* what a long chain lacks is its end, not its callers */
	for (size_t i = 0; i < chain.n; i++)
		s->at[i] = chain.at[chain.n - 1 - i];
	to->fn(to->arg, &name, s, to->since);
}

void as_tasksight_awaiting(struct as_tasksight *t, int64_t now, struct as_pystack *s,
			   as_tasksight_fn fn, void *arg)
{
	as_cleanup(as_pytask_list_done) struct as_pytask_list list = {0};
	struct told to = {s, now - t->last_ns, fn, arg};

	if (now < t->next_ns)
		return;
	if (as_pytasks_list(&t->r, &t->asyncio, &list))
		for (size_t i = 0; i < list.n; i++)
			tell(t, list.at[i], &to);
	t->last_ns = now;
	t->next_ns = now + (as_now() - now) * LIST_SHARE;
}
