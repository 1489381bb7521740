#include "stack/loopexact.h"

#include "base/clock.h"
#include "os/call.h"
#include "stack/loopthread.h"

/* The longer a block lasts, the less often its stack is looked at: this often as it doubles. */
enum { LOOKS_A_BLOCK = 16 };

static const int64_t step_most = 5 * AS_MSEC, step_least = AS_MSEC;

int as_loop_exact_open(struct as_loop_exact *x, const struct as_env *env, pid_t pid,
		       struct as_loops *to, struct as_loop_stacks *stacks, struct as_err *err)
{
	int64_t third = to->threshold_ns / 3;

	*x = (struct as_loop_exact){.env = env, .to = to, .stacks = stacks};
	x->step_ns = third > step_most ? step_most : third < step_least ? step_least : third;
	return as_loopwatch_open(&x->watch, env, pid, to->threshold_ns, err);
}

void as_loop_exact_close(struct as_loop_exact *x)
{
	as_loopwatch_close(x->watch);
	x->watch = NULL;
}

static int64_t ours(const struct as_loop_exact *x, uint64_t kernel_ns)
{
	return (int64_t)kernel_ns + x->env->ahead.monotonic;
}

/* ── looking at stacks ────────────────────────────────────────────────── */

static void look_at(struct as_loop_exact *x, const struct as_wire_loop *w, struct as_loop_sight *s,
		    int64_t now)
{
	uint64_t out = __atomic_load_n(&w->out, __ATOMIC_RELAXED);
	struct as_vote deed = as_loop_deed(x->stacks, w->tid, !out || !w->slept, w->call);

	as_loop_vote(x->stacks, w->tid, &s->votes, deed, out && out == s->out, now);
	s->out = out;
	s->locked += deed.cause == AS_LOOP_LOCK || deed.cause == AS_LOOP_GIL;
	s->gil += deed.cause == AS_LOOP_GIL;
	s->stack_ns = now + (now - ours(x, s->since)) / LOOKS_A_BLOCK;
}

/* A period is over that was looked at until just now: was it mostly a wait for a lock? */
static void count_locked(struct as_loop_exact *x, int32_t tid, const struct as_loop_sight *s)
{
	struct as_loop *to = as_loops_of(x->to, tid);

	if (!to || 2 * (s->locked - s->gil) <= s->votes.looks)
		return;
	to->locked++;
	to->locked_ns += s->votes.seen_ns - ours(x, s->since);
}

/* One that is new is given a moment: most periods are over before it would be looked at. */
static void see(struct as_loop_exact *x, const struct as_wire_loop *w, struct as_loop_sight *s,
		int64_t now)
{
	uint64_t since = __atomic_load_n(&w->since, __ATOMIC_RELAXED);

	if (!since || now - ours(x, since) < x->step_ns / 2)
		return;
	if (since != s->since && s->since)
		count_locked(x, w->tid, s);
	if (since != s->since)
		*s = (struct as_loop_sight){.since = since, .votes.seen_ns = ours(x, since)};
	if (now >= s->stack_ns)
		look_at(x, w, s, now);
}

/* ── blocks ───────────────────────────────────────────────────────────── */

static struct as_loop_sight *sight_of(struct as_loop_exact *x, const struct as_wire_block *b)
{
	size_t n;
	const struct as_wire_loop *w = as_loopwatch_loops(x->watch, &n);

	for (size_t i = 0; i < n; i++)
		if (w[i].tid == b->tid && x->sight[i].since == b->start)
			return &x->sight[i];
	return NULL;
}

static enum as_loop_cause cause_of(const struct as_wire_block *b, const struct as_loop_sight *s)
{
	uint64_t used = b->cpu + b->ready, waited = b->ns > used ? b->ns - used : 0;

	if (b->cpu >= b->ready && b->cpu >= waited)
		return AS_LOOP_CPU;
	if (b->ready >= waited)
		return AS_LOOP_READY;
	if (!as_call_locks(b->call))
		return AS_LOOP_CALL;
	return s && s->gil * 2 > s->locked ? AS_LOOP_GIL : AS_LOOP_LOCK;
}

static void add_block(void *data, const struct as_wire_block *b)
{
	struct as_loop_exact *x = data;
	struct as_loop_sight *s = sight_of(x, b);
	struct as_loop_block out = {.start_ns = ours(x, b->start),
				    .duration_ns = (int64_t)b->ns,
				    .cpu_ns = (int64_t)b->cpu,
				    .ready_ns = (int64_t)b->ready,
				    .tid = b->tid,
				    .cause = cause_of(b, s)};

	if (out.cause >= AS_LOOP_CALL)
		out.call = as_loop_call_name(b->call);
	if (s) {
		as_votes_end(&s->votes, out.start_ns + out.duration_ns);
		as_loop_blame(&out, &s->votes, x->to->profile);
		count_locked(x, b->tid, s);
		s->since = 0;
	}
	as_loops_keep(x->to, &out);
}

/* Its name is read while it lives. One that has no number yet is just being made. */
static void meet(struct as_loop_exact *x, const struct as_wire_loop *w, size_t n)
{
	for (; x->met < n && w[x->met].tid; x->met++) {
		struct as_loop *to = as_loops_of(x->to, w[x->met].tid);

		if (to)
			as_loop_read_name(to, x->env, x->stacks->pid);
	}
}

int64_t as_loop_exact_look(struct as_loop_exact *x, int64_t now)
{
	size_t n;

	as_loopwatch_drain(x->watch, add_block, x);
	const struct as_wire_loop *w = as_loopwatch_loops(x->watch, &n);
	meet(x, w, n);
	for (size_t i = 0; i < n; i++)
		see(x, &w[i], &x->sight[i], now);
	return now + x->step_ns;
}

/* ── the end ──────────────────────────────────────────────────────────── */

/* When what goes on was last seen to: nobody waits for a thread that is on its way out. */
static int64_t seen_until(const struct as_loop_exact *x, const struct as_wire_loop *w, int64_t now)
{
	return w->out && as_call_ends(w->call) ? ours(x, w->out) : now;
}

/*
 * A period that goes on, as the kernel would tell it now. `away`: how long it has been without
 * a CPU just now, which is in no count yet; only if it slept, in the call that it is in.
 */
static struct as_wire_block so_far(const struct as_wire_loop *w, uint64_t ns, uint64_t away)
{
	struct as_wire_block b = {.start = w->since, .ns = ns, .tid = w->tid, .call = -1};
	uint64_t here = w->slept ? away : 0, slept = here, off = w->off + away;

	for (size_t i = 0; i < AS_WIRE_LOOP_CALLS; i++) {
		slept += w->in[i].ns;
		if (w->in[i].nr == w->call) {
			here += w->in[i].ns;
		} else if (w->in[i].ns > b.in_call) {
			b.call = w->in[i].nr;
			b.in_call = w->in[i].ns;
		}
	}
	if (here > b.in_call) {
		b.call = w->call;
		b.in_call = here;
	}
	b.cpu = ns > off ? ns - off : 0;
	b.ready = off > slept ? off - slept : 0;
	return b;
}

static void add_open(struct as_loop_exact *x, const struct as_wire_loop *w, struct as_loop *to,
		     int64_t now)
{
	int64_t end = seen_until(x, w, now), ns = w->since ? end - ours(x, w->since) : 0;
	int64_t away = w->out ? end - ours(x, w->out) : 0;

	if (ns < x->to->threshold_ns)
		return;
	size_t before = x->to->nblocks;
	struct as_wire_block b = so_far(w, (uint64_t)ns, away > 0 ? (uint64_t)away : 0);
	add_block(x, &b);
	if (x->to->nblocks > before)
		x->to->block[before].ongoing = true;
	as_histogram_add(&to->busy, ns, 1);
	to->busy_ns += ns;
	to->over++;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void as_loop_exact_add(struct as_loop *to, const struct as_wire_loop *w, int64_t watched_ns)
{
	int64_t max = larger(to->busy.max, (int64_t)w->max);

	for (size_t i = 0; i < AS_WIRE_LOOP_BUCKETS; i++)
		as_histogram_add(&to->busy, (int64_t)as_bucket_middle(i, AS_WIRE_LOOP_BITS),
				 w->bucket[i]);
	to->busy.max = max; /* the middle of its bucket is near it only */
	to->wait = as_loop_call_name(w->wait);
	to->watched_ns = larger(to->watched_ns, watched_ns);
	to->busy_ns += (int64_t)w->busy;
	to->over += w->over;
}

static void add_loop(struct as_loop_exact *x, const struct as_wire_loop *w, int64_t now)
{
	struct as_loop *to = w->tid ? as_loops_of(x->to, w->tid) : NULL;

	if (!to)
		return;
	as_loop_exact_add(to, w, now - ours(x, w->first));
	add_open(x, w, to, now);
}

void as_loop_exact_finish(struct as_loop_exact *x, int64_t now)
{
	size_t n;

	as_loopwatch_drain(x->watch, add_block, x);
	const struct as_wire_loop *w = as_loopwatch_loops(x->watch, &n);
	meet(x, w, n);
	for (size_t i = 0; i < n; i++)
		add_loop(x, &w[i], now);
	x->to->exact = true;
	x->to->unlisted += as_loopwatch_lost(x->watch);
}
