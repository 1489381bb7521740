#include "stack/lone.h"

#include <stdio.h>

#include "base/calls.h"
#include "base/clock.h"
#include "os/folder.h"

static const int64_t settle_pause = 200 * AS_MSEC;
/* Its own count of a thread that runs is behind by a tick of the kernel's at the most. */
static const int64_t behind_most = 10 * AS_MSEC;

/* Is there one thread, of Python or not? */
static bool is_single(const struct as_pythreads *t)
{
	char path[32];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task", (int)t->py->pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(t->env->proc, path)};
	for (const struct dirent *e; (e = as_folder_next(&f));)
		n += *e->d_name != '.';
	return n == 1;
}

void as_lone_end(struct as_lone *l)
{
	l->over |= l->is;
	l->is = false;
}

void as_lone_count(struct as_lone *l, const struct as_pythreads *t)
{
	if (t->n == 1 && is_single(t))
		l->is = !l->over;
	else
		as_lone_end(l);
}

/* From now on by the clock. */
static bool begin(struct as_lone *l, struct as_pythread *t, int64_t now, struct as_pydeed *ret)
{
	bool lives = as_pythread_ask(t, ret);

	as_called(1);
	t->clock_ns = as_clock(l->clock);
	l->settle_ns = now + settle_pause;
	return lives;
}

/* Is all of what the clock told its own? */
static bool settle(struct as_lone *l, struct as_pythread *t, int64_t now)
{
	int64_t own;

	if (!as_pythread_count(t, &own))
		return false;
	if (t->told_ns - own > behind_most)
		as_lone_end(l);
	l->settle_ns = now + settle_pause;
	return true;
}

bool as_lone_ask(struct as_lone *l, struct as_pythread *t, int64_t now, struct as_pydeed *ret)
{
	if (t->clock_ns && now >= l->settle_ns && !settle(l, t, now))
		return false;
	if (!l->is)
		return as_pythread_ask(t, ret);
	if (!t->clock_ns)
		return begin(l, t, now, ret);
	as_called(1);
	int64_t used = as_clock(l->clock);
	if (!used) /* it has ended */
		return false;
	ret->used_ns = used - t->clock_ns;
	ret->changed = ret->used_ns;
	ret->moved = ret->changed || t->runs;
	t->runs = ret->runs = ret->changed ? as_pythread_runs(t) : t->runs;
	t->clock_ns = used;
	t->told_ns += ret->used_ns;
	return true;
}
