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
	of->locked += b->cause == AS_LOOP_LOCK;
	of->locked_ns += b->cause == AS_LOOP_LOCK ? b->duration_ns : 0;
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

/* Fewer waits for a lock than this may be what somebody looks for. */
enum { WORKER_LOCKED = 3 };

/*
 * A thread that waits for locks longer than it polls, or mostly and again and again when it
 * does not poll, is a worker: it waits for work at the lock of a queue, and some library has
 * polled a socket.
 */
static bool is_worker(const struct as_loop *x)
{
	if (!strncmp(x->wait, "epoll", 5))
		return false;
	return x->locked_ns > x->watched_ns - x->busy_ns ||
	       (x->locked >= WORKER_LOCKED && 2 * x->locked_ns > x->busy_ns);
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
		if (is_worker(l->loop[i]))
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

static bool alike(const struct as_vote *a, const struct as_vote *b)
{
	return a->stack == b->stack && a->cause == b->cause && a->call == b->call;
}

static struct as_vote *find(struct as_votes *v, const struct as_vote *x)
{
	for (size_t i = 0; i < v->n; i++)
		if (alike(&v->at[i], x))
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
	struct as_vote *to = find(v, &x);

	if (!to && v->n < AS_VOTES_MOST)
		v->at[v->n++] = x;
	if (!to)
		return;
	to->task = x.task && (x.ns > to->ns || !to->task) ? x.task : to->task;
	to->ns += x.ns;
}

static void add_for(struct as_votes *v, struct as_vote x, int64_t ns)
{
	x.ns = ns > 0 ? ns : 0;
	v->ns += x.ns;
	add(v, x);
}

void as_votes_add(struct as_votes *v, struct as_vote seen, int64_t now)
{
	int64_t since = now - v->seen_ns, before = v->looks ? since / 2 : 0;

	if (before)
		add_for(v, v->last, before);
	add_for(v, seen, since - before);
	v->looks++;
	v->last = seen;
	v->seen_ns = now;
}

void as_votes_end(struct as_votes *v, int64_t end)
{
	if (v->looks)
		add_for(v, v->last, end - v->seen_ns);
	v->seen_ns = end;
}

static size_t youngest(const struct as_votes *v)
{
	size_t best = 0;

	for (size_t i = 1; i < v->n; i++)
		best = v->at[i].stack > v->at[best].stack ? i : best;
	return best;
}

/* All of `v`, told apart by their stacks alone. */
static struct as_votes by_stack(const struct as_votes *v)
{
	struct as_votes out = {0};

	for (size_t i = 0; i < v->n; i++)
		add(&out, (struct as_vote){.stack = v->at[i].stack,
					   .task = v->at[i].task,
					   .ns = v->at[i].ns});
	return out;
}

/*
 * The deepest stack with more than `least`. A stack is younger than its caller.
 * So when the youngest hands its time to its caller, again and again, each has
 * all of its callees' when its turn comes, and the first with enough is it.
 */
static struct as_vote deepest(const struct as_votes *all, int64_t least, const struct as_profile *p)
{
	struct as_votes v = by_stack(all);

	while (v.n) {
		size_t i = youngest(&v);
		struct as_vote x = v.at[i];

		if (x.stack && x.ns > least)
			return x;
		v.at[i] = v.at[--v.n];
		if (x.stack)
			add(&v, (struct as_vote){.stack = p->stack[x.stack].caller,
						 .task = x.task,
						 .ns = x.ns});
	}
	return (struct as_vote){0};
}

struct as_vote as_votes_winner(const struct as_votes *v, const struct as_profile *p)
{
	return deepest(v, v->ns / 2, p);
}

/* ── blame ────────────────────────────────────────────────────────────── */

static bool is_under(const struct as_profile *p, uint32_t stack, uint32_t root)
{
	while (stack > root)
		stack = p->stack[stack].caller;
	return stack == root;
}

/* What it did most of the time that it was on this stack; `take`: these looks are taken away. */
static struct as_vote deed_on(struct as_votes *v, uint32_t stack, const struct as_profile *p,
			      bool take)
{
	struct as_votes deeds = {0};
	struct as_vote most = {0};
	size_t kept = 0;

	for (size_t i = 0; i < v->n; i++) {
		struct as_vote x = v->at[i];
		bool under = is_under(p, x.stack, stack);

		if (under)
			add(&deeds, (struct as_vote){.ns = x.ns, .cause = x.cause, .call = x.call});
		if (!under || !take)
			v->at[kept++] = x;
		else
			v->ns -= x.ns;
	}
	v->n = kept;
	for (size_t i = 0; i < deeds.n; i++)
		if (deeds.at[i].ns > most.ns)
			most = deeds.at[i];
	return most;
}

/* Lines of one function, called from one place, that do the same. */
static bool is_one(const struct as_profile *p, const struct as_loop_holder *a,
		   const struct as_loop_holder *b)
{
	const struct as_stack *x = &p->stack[a->stack], *y = &p->stack[b->stack];

	return x->caller == y->caller &&
	       p->place[x->place].function == p->place[y->place].function &&
	       p->place[x->place].file == p->place[y->place].file && a->cause == b->cause &&
	       a->call == b->call;
}

static void keep_holder(struct as_loop_block *b, struct as_loop_holder h,
			const struct as_profile *p)
{
	for (size_t i = 0; i < b->nholders; i++)
		if (is_one(p, &b->holder[i], &h)) {
			h.stack = h.ns > b->holder[i].ns ? h.stack : b->holder[i].stack;
			h.ns += b->holder[i].ns;
			b->holder[i] = h;
			return;
		}
	if (b->nholders < AS_HOLDERS_MOST)
		b->holder[b->nholders++] = h;
}

static int longer(const void *a, const void *b)
{
	const struct as_loop_holder *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/*
 * Looks say why it was held, but one that finds it running cannot tell whether it has a CPU, nor
 * for how long it will run: the counts of the block can. `all`: how long looks stand for.
 */
static struct as_vote cause_in(const struct as_loop_block *b, struct as_vote seen, int64_t all)
{
	double ran = (double)seen.ns / (double)all * (double)b->duration_ns;

	if (seen.cause != AS_LOOP_CPU || b->cpu_ns < 0)
		return seen;
	if ((double)(b->cpu_ns + b->ready_ns) < ran / 2)
		return (struct as_vote){.cause = b->cause, .call = b->call};
	if (b->ready_ns > b->cpu_ns)
		seen.cause = AS_LOOP_READY;
	return seen;
}

/* A fifth of a block is a good part; who has two fifths of what is left is told next. */
static void find_holders(struct as_loop_block *b, const struct as_votes *all,
			 const struct as_profile *p)
{
	struct as_votes rest = *all;
	int64_t good = all->ns / 5;

	for (size_t i = 0; i < 2 * AS_HOLDERS_MOST && rest.ns > good; i++) {
		struct as_vote x = deepest(&rest, rest.ns / 5 * 2, p);

		if (!x.stack || x.ns < good)
			break;
		struct as_vote did = cause_in(b, deed_on(&rest, x.stack, p, true), all->ns);
		double part = (double)x.ns / (double)all->ns;
		keep_holder(b,
			    (struct as_loop_holder){x.stack, x.task,
						    (int64_t)(part * (double)b->duration_ns),
						    did.cause, did.call},
			    p);
	}
	qsort(b->holder, b->nholders, sizeof *b->holder, longer);
	if (b->nholders == 1) { /* then what is known of the block is known of it */
		b->holder->cause = b->cause;
		b->holder->call = b->call;
	}
}

void as_loop_blame(struct as_loop_block *b, const struct as_votes *v, const struct as_profile *p)
{
	struct as_vote held = as_votes_winner(v, p);

	b->looks = v->looks;
	b->stack = held.stack;
	b->task = held.task;
	if (held.stack && held.ns < v->ns / 8 * 7) {
		struct as_votes votes = *v;
		struct as_vote did = cause_in(b, deed_on(&votes, held.stack, p, false), v->ns);

		b->cause = did.cause;
		b->call = did.call;
	}
	find_holders(b, v, p);
}
