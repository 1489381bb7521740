#include "stack/taskwatch.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"

void as_taskwatch_done(struct as_taskwatch *w)
{
	free(w->row);
	as_index_done(&w->by_who);
	*w = (struct as_taskwatch){0};
}

/* ── rows ─────────────────────────────────────────────────────────────── */

/* Who is looked for. */
struct who {
	const struct as_pytask *task;
	uint32_t name;
};

static uint32_t hash_of(const struct who *who)
{
	const uint64_t what[] = {who->task->at, who->task->coro, who->name};

	return as_hash(0, what, sizeof what);
}

static bool same(const void *owner, uint32_t i, const void *key)
{
	const struct as_taskwatch_row *row = &((const struct as_taskwatch *)owner)->row[i];
	const struct who *who = key;

	return row->at == who->task->at && row->coro == who->task->coro && row->name == who->name;
}

const struct as_taskwatch_row *as_taskwatch_find(const struct as_taskwatch *w,
						 const struct as_pytask *t, const char *name)
{
	const struct who who = {t, as_hash(0, name, strlen(name))};
	uint32_t i = as_index_find(&w->by_who, hash_of(&who), same, w, &who);

	return i == AS_NOWHERE ? NULL : &w->row[i];
}

static struct as_taskwatch_row *row_of(struct as_taskwatch *w, const struct who *who)
{
	uint32_t hash = hash_of(who), i = as_index_find(&w->by_who, hash, same, w, who);

	if (i != AS_NOWHERE)
		return &w->row[i];
	if (w->n >= AS_PYTASKS_MOST || !as_grow(&w->row, &w->cap, w->n, sizeof *w->row, 64) ||
	    !as_index_add(&w->by_who, hash, (uint32_t)w->n))
		return NULL;
	w->row[w->n] = (struct as_taskwatch_row){
		who->task->at, who->task->coro, who->name, w->looks, 0, 0};
	return &w->row[w->n++];
}

/* ── looks ────────────────────────────────────────────────────────────── */

static bool has(const uint64_t *task, size_t n, uint64_t one)
{
	for (size_t i = 0; i < n; i++)
		if (task[i] == one)
			return true;
	return false;
}

/* One that was away for some looks has ended: this is another, of the same name, in its place. */
static bool note(struct as_taskwatch *w, const struct who *who, bool running, int64_t since)
{
	enum { AWAY = 2 };
	const struct as_pytask *t = who->task;
	struct as_taskwatch_row *row = row_of(w, who);

	if (!row)
		return w->n >= AS_PYTASKS_MOST; /* of more there is nothing to tell */
	if (w->looks - row->look > AWAY)
		row->ran_ns = row->awaited_ns = 0;
	row->look = w->looks;
	row->ran_ns += running ? since : 0;
	row->awaited_ns += !running && t->waiter ? since : 0;
	return true;
}

/* A name that cannot be read is none: the task is then known by its addresses. */
static uint32_t name_of(struct as_pyreader *r, const struct as_pytask *t)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	bool known = as_pytask_name(r, t, &name);

	return as_hash(0, as_buf_text(&name), known ? name.len : 0);
}

static bool look(struct as_taskwatch *w, struct as_pyreader *r, const struct as_pyasyncio *a,
		 int64_t since)
{
	as_cleanup(as_pytask_list_done) struct as_pytask_list list = {0};
	uint64_t runs[AS_PYTASKS_RUNNING];
	size_t n = as_pytasks_running(r, a, 0, runs);
	struct as_pytask t;

	if (!as_pytasks_list(r, a, &list))
		return false;
	for (size_t i = 0; i < list.n; i++)
		if (as_pytask_read(r, list.at[i], &t) &&
		    !note(w, &(struct who){&t, name_of(r, &t)}, has(runs, n, t.at), since))
			return false;
	return true;
}

/* ── moments ──────────────────────────────────────────────────────────── */

/* At random, so that nothing that the program does in step is always or never seen. */
static int64_t pause_ns(uint64_t *seed, int64_t cost)
{
	enum { MEAN_MS = 5, SHARE = 20 };

	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	double chance = ((double)(*seed >> 11) + 1) / 9007199254740992.0;
	int64_t mean = cost * SHARE > MEAN_MS * AS_MSEC ? cost * SHARE : MEAN_MS * AS_MSEC;

	return (int64_t)(-log(chance) * (double)mean);
}

bool as_taskwatch_run(struct as_taskwatch *w, struct as_pyreader *r,
		      const struct as_pyasyncio *asyncio, size_t n, int64_t for_ns)
{
	int64_t last = as_now(), end = last + for_ns, cost = 0;
	uint64_t seed = (uint64_t)last;

	while (last < end) {
		int64_t left = end - as_now(), pause = pause_ns(&seed, cost);
		struct timespec t = as_timespec(pause < left ? pause : left > 0 ? left : 0);

		(void)nanosleep(&t, NULL);
		int64_t now = as_now();

		w->looks++;
		for (size_t i = 0; i < n; i++)
			if (!look(w, r, &asyncio[i], now - last))
				return false;
		w->watched_ns += now - last;
		last = now;
		cost = as_now() - now;
	}
	return true;
}
