#include "profile/loops.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"

int as_loops_init(struct as_loops *l, struct as_err *err)
{
	const struct as_value_kind kind = {"samples", "count"};

	*l = (struct as_loops){0};
	l->profile = as_profile_new(&kind, 1, err);
	return l->profile ? AS_OK : err->code;
}

void as_loops_done(struct as_loops *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->loop[i]);
	free(l->block);
	as_profile_free(l->profile);
	*l = (struct as_loops){0};
}

struct as_loop *as_loops_of(struct as_loops *l, int32_t tid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->loop[i]->tid == tid)
			return l->loop[i];
	if (l->n == AS_LOOPS_MOST)
		return NULL;
	struct as_loop *x = as_zalloc(sizeof *x);
	if (!x) {
		l->starved = true;
		return NULL;
	}
	x->tid = tid;
	return l->loop[l->n++] = x;
}

void as_loops_keep(struct as_loops *l, const struct as_loop_block *b)
{
	if (l->nblocks >= AS_LOOP_BLOCKS_MOST)
		l->unlisted++;
	else if (!as_grow(&l->block, &l->blocks_cap, l->nblocks, sizeof *l->block, 64))
		l->starved = true;
	else
		l->block[l->nblocks++] = *b;
}

void as_loops_add(struct as_loops *l, struct as_loop *of, const struct as_loop_block *b)
{
	as_histogram_add(&of->busy, b->duration_ns, 1);
	if (b->duration_ns < l->threshold_ns)
		return;
	of->over++;
	as_loops_keep(l, b);
}

static int busier(const void *a, const void *b)
{
	const struct as_loop *const *x = a, *const *y = b;

	return ((*x)->busy_ns < (*y)->busy_ns) - ((*x)->busy_ns > (*y)->busy_ns);
}

/*
 * A thread that waits for locks longer than it polls is a worker: it waits for work
 * at the lock of a queue, and some library has polled a socket.
 */
static bool is_worker(const struct as_loops *l, const struct as_loop *x)
{
	int64_t locked = 0;

	for (size_t i = 0; i < l->nblocks; i++)
		if (l->block[i].tid == x->tid && l->block[i].cause == AS_LOOP_LOCK)
			locked += l->block[i].duration_ns;
	return locked > x->watched_ns - x->busy_ns && strncmp(x->wait, "epoll", 5) != 0;
}

static void forget(struct as_loops *l, size_t at)
{
	int32_t tid = l->loop[at]->tid;
	size_t kept = 0;

	for (size_t i = 0; i < l->nblocks; i++)
		if (l->block[i].tid != tid)
			l->block[kept++] = l->block[i];
	l->nblocks = kept;
	free(l->loop[at]);
	l->loop[at] = l->loop[--l->n];
}

void as_loops_settle(struct as_loops *l)
{
	for (size_t i = l->n; i-- > 0;)
		if (is_worker(l, l->loop[i]))
			forget(l, i);
	qsort(l->loop, l->n, sizeof(struct as_loop *), busier);
}

const char *as_loop_cause_name(enum as_loop_cause c)
{
	static const char *const name[AS_LOOP_CAUSES] = {[AS_LOOP_CPU] = "cpu",
							 [AS_LOOP_READY] = "ready",
							 [AS_LOOP_CALL] = "syscall",
							 [AS_LOOP_LOCK] = "lock",
							 [AS_LOOP_GIL] = "gil"};

	return name[c];
}

/* ── votes ────────────────────────────────────────────────────────────── */

static struct as_vote *find(struct as_votes *v, uint32_t stack)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->at[i].stack == stack)
			return &v->at[i];
	return NULL;
}

bool as_votes_has(const struct as_votes *v, uint32_t stack)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->at[i].stack == stack)
			return true;
	return false;
}

static void add(struct as_votes *v, struct as_vote x)
{
	struct as_vote *to = find(v, x.stack);

	if (!to && v->n < AS_VOTES_MOST)
		v->at[v->n++] = x;
	if (!to)
		return;
	to->task = x.task && x.n > to->n ? x.task : to->task;
	to->n += x.n;
}

void as_votes_add(struct as_votes *v, uint32_t stack, uint32_t task)
{
	v->all++;
	v->last = stack;
	add(v, (struct as_vote){stack, 1, task});
}

static size_t youngest(const struct as_votes *v)
{
	size_t best = 0;

	for (size_t i = 1; i < v->n; i++)
		best = v->at[i].stack > v->at[best].stack ? i : best;
	return best;
}

/*
 * A stack is younger than its caller. So when the youngest hands its votes to
 * its caller, again and again, each has all of its callees' when its turn comes,
 * and the first with a majority is the deepest one.
 */
struct as_vote as_votes_winner(struct as_votes *v, const struct as_profile *p)
{
	while (v->n) {
		size_t i = youngest(v);
		struct as_vote x = v->at[i];

		if (x.stack && x.n * 2 > v->all)
			return x;
		v->at[i] = v->at[--v->n];
		if (x.stack)
			add(v, (struct as_vote){p->stack[x.stack].caller, x.n, x.task});
	}
	return (struct as_vote){0};
}
