#include "stack/states.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "os/call.h"
#include "pyabi/objects.h"

/* ── where the locks are ──────────────────────────────────────────────── */

static void add_gil(struct as_pygils *g, uint64_t at)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->at[i] == at)
			return;
	if (g->n < AS_PYGILS_MOST)
		g->at[g->n++] = at;
}

/* From 3.12 an interpreter points to its own; before, the runtime has one for all. */
static void find_gil(const struct as_python *py, uint64_t interp, struct as_pygils *ret)
{
	const struct as_py_objects *o = as_py_objects(py->at.minor);
	uint64_t at = 0;

	if (py->at.interp.gil != AS_PY_NO) {
		if (!as_remote_read(py->pid, interp + py->at.interp.gil, &at, sizeof at) && at)
			add_gil(ret, at);
	} else if (o) {
		add_gil(ret, py->runtime + o->gil);
	}
}

void as_pygils_read(const struct as_pythreads *t, struct as_pygils *ret)
{
	uint64_t last = 0;

	ret->n = 0;
	ret->nholders = as_pythreads_holders(t, ret->holder, AS_PYGILS_MOST);
	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i]->interp != last)
			find_gil(t->py, t->at[i]->interp, ret);
		last = t->at[i]->interp;
	}
}

/* ── what a thread does ───────────────────────────────────────────────── */

static bool holds(const struct as_pygils *g, const struct as_pythread *t)
{
	for (size_t i = 0; i < g->nholders; i++)
		if (g->holder[i] == t->snap.thread)
			return true;
	return false;
}

static bool in_gil(const struct as_pygils *g, uint64_t lock)
{
	for (size_t i = 0; i < g->n; i++)
		if (lock >= g->at[i] && lock - g->at[i] < AS_PY_GIL_SIZE)
			return true;
	return false;
}

/* A thread that was stopped in a system call still looks as if it were in it. */
static bool is_stopped(const struct as_pythreads *all, const struct as_pythread *t)
{
	struct as_proc_stat stat;
	struct as_err ignored;
	char path[64], text[1024];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task/%d/stat", (int)all->py->pid, (int)t->tid);
	return as_read_at(all->env->proc, path, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_stat(text, n, &stat) && (stat.state == 'T' || stat.state == 't');
}

static enum as_doing waits(const struct as_call *c, const struct as_pygils *g)
{
	if (as_call_locks(c->nr) && in_gil(g, c->arg[0]))
		return AS_DOING_WANTS;
	return as_call_idles(c->nr) ? AS_DOING_IDLE : AS_DOING_CALL;
}

static bool read_call(const struct as_pythread *t, struct as_call *ret)
{
	struct as_err ignored;
	char text[256];
	size_t n = 0;

	return t->call >= 0 && as_read_fd(t->call, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_call(text, n, ret);
}

struct as_pystate as_pystate_of(const struct as_pythreads *all, const struct as_pythread *t,
				const struct as_pygils *g)
{
	struct as_pystate s = {.call = -1, .gil = holds(g, t) ? AS_GIL_HOLDS : AS_GIL_NOT};
	struct as_call c;

	if (!read_call(t, &c))
		return s;
	s.call = c.nr;
	s.doing = c.runs ? AS_DOING_RUNS : is_stopped(all, t) ? AS_DOING_STOPPED : waits(&c, g);
	return s;
}

/* ── what all of them do ──────────────────────────────────────────────── */

static bool same_holders(const struct as_pygils *a, const struct as_pygils *b)
{
	return a->nholders == b->nholders &&
	       !memcmp(a->holder, b->holder, a->nholders * sizeof *a->holder);
}

static void doubt(const struct as_pythreads *all, const struct as_pygils *before,
		  const struct as_pygils *after, struct as_pystate *state)
{
	for (size_t i = 0; i < all->n; i++) {
		bool had = holds(before, all->at[i]) || holds(after, all->at[i]);

		state[i].gil =
			had && state[i].doing != AS_DOING_WANTS ? AS_GIL_PERHAPS : AS_GIL_NOT;
	}
}

bool as_pystates_agree(const struct as_pythreads *all, const struct as_pygils *before,
		       const struct as_pygils *after, struct as_pystate *state)
{
	bool agree = same_holders(before, after);

	for (size_t i = 0; i < all->n && agree; i++)
		agree = state[i].doing != AS_DOING_WANTS ||
			(before->nholders && !holds(before, all->at[i]));
	if (!agree)
		doubt(all, before, after, state);
	return agree;
}

/* Whether it was a good moment. */
static bool read_all(const struct as_pythreads *all, struct as_pystate *ret)
{
	struct as_pygils before, after;

	as_pygils_read(all, &before);
	for (size_t i = 0; i < all->n; i++)
		ret[i] = as_pystate_of(all, all->at[i], &before);
	as_pygils_read(all, &after);
	return as_pystates_agree(all, &before, &after, ret);
}

void as_pystates_read(const struct as_pythreads *all, struct as_pystate *ret)
{
	const struct timespec pause = as_timespec(AS_MSEC);
	const int64_t end = as_now() + 50 * AS_MSEC;

	while (!read_all(all, ret) && as_now() < end)
		(void)nanosleep(&pause, NULL);
}
