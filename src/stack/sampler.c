#include "stack/sampler.h"

#include <math.h>
#include <string.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "os/microstop.h"
#include "os/ready.h"

enum {
	HOLDERS_MOST = 64,
	FEW = 4,            /* threads, that are as well asked at once     */
	SLICES_BACK = 1024, /* no look stands for the time before so many */
};

static const int64_t check_first = 20 * AS_MSEC;
/* How often new threads are asked for; if the newest tells of them, only interpreters are. */
static const int64_t peek_pause = AS_MSEC, peek_pause_led = 50 * AS_MSEC;
static const int64_t tick = 10 * AS_MSEC; /* a running thread's time is counted no less often */

/* ── moments ──────────────────────────────────────────────────────────── */

/* In (0, 1]: xorshift64*, good enough to be out of step with everything. */
static double chance(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return ((double)(*seed * UINT64_C(0x2545f4914f6cdd1d) >> 11) + 1) / 9007199254740992.0;
}

static int64_t pause_ns(struct as_sampler *s)
{
	return (int64_t)(-log(chance(&s->seed)) * 1e9 / s->config.hz);
}

/*
 * The next moment. One that came while we looked is taken at once; when we are
 * further behind, by more than a tenth of the usual pause, it is late: all that
 * were missed are left out, and the next is one to come.
 */
static void set_due(struct as_sampler *s, int64_t now)
{
	s->due_ns += pause_ns(s);
	if (s->due_ns > now - (int64_t)(0.1e9 / s->config.hz))
		return;
	s->count.late += 1 + (uint64_t)(as_seconds(now - s->due_ns) * s->config.hz);
	s->due_ns = now + pause_ns(s);
}

/* The first moment is one to come. */
static void begin(struct as_sampler *s)
{
	s->due_ns = as_now();
	set_due(s, s->due_ns);
}

uint32_t as_sampler_slice(const struct as_sampler_config *c, int64_t now)
{
	return c->slice_ns && now > c->origin_ns ? (uint32_t)((now - c->origin_ns) / c->slice_ns)
						 : 0;
}

/* ── kinds of value ───────────────────────────────────────────────────── */

static const struct {
	unsigned mode;
	struct as_value_kind kind;
} kinds[] = {
	{AS_MODE_CPU, {"cpu", "nanoseconds"}},
	{AS_MODE_WALL, {"wall", "nanoseconds"}},
	{AS_MODE_GIL, {"gil", "nanoseconds"}},
};

size_t as_sampler_kinds(unsigned modes, struct as_value_kind kind[AS_VALUES_MAX])
{
	size_t n = 0;

	kind[n++] = (struct as_value_kind){"samples", "count"};
	for (size_t i = 0; i < AS_LEN(kinds); i++)
		if (modes & kinds[i].mode)
			kind[n++] = kinds[i].kind;
	return n;
}

/* What one sight of a thread is worth, in each mode. */
struct weight {
	int64_t ns[AS_LEN(kinds)];
};

/* The part of a weight that lies in one slice, and is taken from what is left of it. */
static int64_t part_of(int64_t *left, int64_t part, int64_t rest)
{
	int64_t v = part < rest ? (int64_t)((double)*left * (double)part / (double)rest) : *left;

	*left -= v;
	return v;
}

/* One part of it; only the last, at the look itself, is a sample. */
static void add_part(struct as_sampler *s, const struct as_pythread *t, uint32_t slice,
		     const int64_t *ns, bool sample)
{
	int64_t v[AS_VALUES_MAX] = {sample};
	size_t n = 1;

	for (size_t i = 0; i < AS_LEN(kinds); i++)
		if (s->config.modes & kinds[i].mode)
			v[n++] = ns[i];
	as_profile_add(s->to, t->stack, t->tags, slice, v);
}

/*
 * What a thread had in the time that ends now and is `since` long. Slices are
 * short where a run is, so that a look may stand for more than one has: each gets
 * what it is long.
 */
static void add(struct as_sampler *s, const struct as_pythread *t, struct weight w, int64_t now,
		int64_t since)
{
	const struct as_sampler_config *c = &s->config;
	uint32_t slice = as_sampler_slice(c, now - since);

	if (s->slice > SLICES_BACK && slice < s->slice - SLICES_BACK)
		slice = s->slice - SLICES_BACK;
	for (; slice < s->slice; slice++) {
		int64_t end = c->origin_ns + ((int64_t)slice + 1) * c->slice_ns, rest = since;
		int64_t ns[AS_LEN(kinds)];

		since = now - end;
		for (size_t i = 0; i < AS_LEN(kinds); i++)
			ns[i] = part_of(&w.ns[i], rest - since, rest);
		add_part(s, t, slice, ns, false);
	}
	add_part(s, t, s->slice, w.ns, true);
	s->count.samples++;
}

/* ── tags ─────────────────────────────────────────────────────────────── */

static uint32_t text(struct as_sampler *s, const char *p)
{
	return as_profile_text(s->to, p, strlen(p));
}

static struct as_tag task_tag(struct as_sampler *s, const struct as_buf *name)
{
	s->to->bad |= name->bad;
	return (struct as_tag){text(s, "task"),
			       as_profile_text(s->to, as_buf_text(name), name->len), 0};
}

/* `task` is its name; NULL: it runs none. */
static void tag(struct as_sampler *s, const struct as_sampled *p, struct as_pythread *t,
		const struct as_buf *task)
{
	struct as_tag tags[4];
	size_t n = 0;

	if (s->config.processes)
		tags[n++] = (struct as_tag){text(s, "process"), 0, p->py.pid};
	if (s->config.threads)
		tags[n++] = (struct as_tag){text(s, "thread"), 0, t->tid};
	if (s->config.threads && (t->called || t->name[0]))
		tags[n++] = (struct as_tag){text(s, "name"),
					    t->called ? t->called : text(s, t->name), 0};
	if (task)
		tags[n++] = task_tag(s, task);
	t->tags = as_profile_tags(s->to, tags, n);
}

/* Of the stack that was just read. */
static void tag_task(struct as_sampler *s, struct as_sampled *p, struct as_pythread *t)
{
	as_auto_buf struct as_buf name = AS_BUF(AS_BUF_LINE);

	bool has = as_tasksight_name(&p->tasks, t->snap.thread, s->stack, &name);

	tag(s, p, t, has ? &name : NULL);
}

/* ── looking ──────────────────────────────────────────────────────────── */

static uint64_t main_interp(const struct as_sampled *p)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i]->tid == p->py.pid)
			return p->threads.at[i]->interp;
	return p->threads.n ? p->threads.at[0]->interp : 0;
}

/*
 * Is what we remember of its code still true? A program that imports frees code
 * and puts other code in its place all the time; one that has settled does not.
 */
static void check_codes(struct as_sampled *p, int64_t now)
{
	if (now < p->check_ns)
		return;
	p->check_pause = as_codes_check(&p->codes) ? check_first : 2 * p->check_pause;
	if (p->check_pause > AS_SECOND)
		p->check_pause = AS_SECOND;
	p->check_ns = now + p->check_pause;
	for (size_t i = 0; i < p->threads.n; i++)
		p->threads.at[i]->known = false;
}

static void call_by_names(struct as_sampler *s, struct as_sampled *p, int64_t now, bool all)
{
	if (s->config.threads)
		as_naming_read(&p->naming, &p->threads, s->to, now, all);
	for (size_t i = 0; i < p->threads.n; i++)
		if (!p->threads.at[i]->known)
			tag(s, p, p->threads.at[i], NULL);
}

/* See who is new and who has ended; `all`: and who has another name. */
static bool list(struct as_sampler *s, struct as_sampled *p, int64_t now, bool all)
{
	if (!as_pythreads_refresh(&p->threads))
		return false;
	as_lone_count(&p->lone, &p->threads);
	call_by_names(s, p, now, all);
	return true;
}

/* Once a second in any case. False: its Python is gone. */
static bool refresh(struct as_sampler *s, struct as_sampled *p, int64_t now)
{
	check_codes(p, now);
	if (now >= p->refresh_ns) {
		if (!list(s, p, now, true))
			return false;
		p->refresh_ns = now + AS_SECOND;
	} else if (as_naming_due(&p->naming, now)) {
		call_by_names(s, p, now, false);
	}
	if (s->config.tasks)
		as_tasksight_refresh(&p->tasks, main_interp(p), now);
	return true;
}

/* What is read while its thread stands still. */
struct still {
	struct as_sampler *s;
	struct as_pythread *t;
	enum as_snap snap;
};

static void read_still(void *arg)
{
	struct still *x = arg;

	x->snap = as_snapshot(&x->t->snap, x->s->stack, &x->s->count.snap);
}

/* As it runs; if that does not do and may not be the last word, stopped. */
static enum as_snap read_stack(struct as_sampler *s, struct as_pythread *t,
			       struct as_snap_also *also)
{
	struct still x = {.s = s, .t = t};

	t->snap.also = also;
	read_still(&x);
	t->snap.also = NULL;
	if (x.snap == AS_SNAP_REJECTED && s->config.stop)
		s->count.stops += as_microstop(t->tid, read_still, &x, &s->count.stopped_ns);
	return x.snap;
}

/* Who begins a thread puts it before all others, so the one that was first tells. */
static void see_newest(struct as_sampled *p, const struct as_pythread *t)
{
	if (t->snap.thread != p->threads.head)
		return;
	p->preceded = as_snapper_preceded(&t->snap);
	p->leads = !p->preceded;
	if (p->preceded)
		as_lone_end(&p->lone);
}

static bool see(struct as_sampler *s, struct as_sampled *p, struct as_pythread *t,
		struct as_pyheads *heads)
{
	if (t->known)
		return true;
	enum as_snap snap = read_stack(s, t, heads ? &heads->also : NULL);

	t->staffed = snap == AS_SNAP_OK || snap == AS_SNAP_REJECTED;
	switch (snap) {
	case AS_SNAP_OK:
		see_newest(p, t);
		t->stack = as_codes_follow(&p->codes, s->stack, &t->trail);
		t->known = true;
		if (s->config.tasks)
			tag_task(s, p, t);
		return true;
	case AS_SNAP_EMPTY:
		s->count.empty++;
		t->owed_ns = 0;
		return false;
	case AS_SNAP_REJECTED:
		s->count.rejected++;
		return false;
	case AS_SNAP_GONE:
		break;
	}
	return false;
}

/* One look at a process. */
struct look {
	int64_t now, since; /* since the last one                      */
	bool asleep;        /* no thread was on a CPU since            */
	bool alone;         /* its only thread tells so itself         */
	bool lists;         /* new threads are asked for               */
	struct as_pyheads heads;
	uint64_t holder[HOLDERS_MOST];
	size_t holders;
};

static bool holds(const struct as_pythread *t, const struct look *l)
{
	for (size_t i = 0; i < l->holders; i++)
		if (l->holder[i] == t->snap.thread)
			return true;
	return false;
}

/* Where CPU time is not asked for, one that ran a moment ago is not asked again: it is read. */
static bool ask(const struct as_sampler *s, struct as_sampled *p, struct as_pythread *t,
		const struct look *l, struct as_pydeed *ret)
{
	bool busy = !(s->config.modes & AS_MODE_CPU) && t->runs && l->now < t->asked_ns + AS_MSEC;

	*ret = (struct as_pydeed){.moved = busy, .runs = busy};
	if (l->asleep || busy)
		return true;
	t->asked_ns = l->now;
	return as_lone_ask(&p->lone, t, l->now, ret);
}

/*
 * A thread that only waits for a CPU looks as if it ran, and would be counted
 * again and again where it was stopped: but what the kernel counts of it stands
 * still for longer than a tick.
 */
static void leave_waiting(struct as_sampled *p, int64_t now, struct as_pydeed *did)
{
	if (did->changed)
		p->stirred_ns = now;
	else if (now - p->stirred_ns > tick)
		did->runs = did->moved = false;
}

/* Its stack shows that it is not alone, so what the clock told is not its own: does it run? */
static bool ask_own(struct as_pythread *t)
{
	struct as_pydeed own;

	if (!as_pythread_ask(t, &own))
		return false;
	t->owed_ns += own.used_ns;
	return own.runs;
}

/*
 * CPU time belongs to the stacks that are seen while a thread runs, never to
 * the one in which it waits afterwards: it is owed until then. The stack of a
 * thread that has not moved is still the same. One that has its stack in
 * another interpreter at this moment has this time there, too.
 */
static void look_at(struct as_sampler *s, struct as_sampled *p, size_t i, struct look *l)
{
	struct as_pythread *t = p->threads.at[i];
	bool elsewhere = as_pythreads_elsewhere(&p->threads, i);
	unsigned modes = s->config.modes;
	struct as_pydeed did;

	t->told = t->fresh = false;
	if (!ask(s, p, t, l, &did))
		return;
	p->ran |= did.runs;
	if (l->alone)
		leave_waiting(p, l->now, &did);
	t->owed_ns = elsewhere ? 0 : t->owed_ns + did.used_ns;
	t->known &= !did.moved;
	bool cpu = modes & AS_MODE_CPU && did.runs && as_pythread_shows(&p->threads, t),
	     wall = modes & AS_MODE_WALL, gil = modes & AS_MODE_GIL && holds(t, l);
	bool lone = p->lone.is;
	t->told = (cpu || wall || gil) && !elsewhere && see(s, p, t, l->lists ? &l->heads : NULL);
	if (lone && !p->lone.is)
		cpu = cpu && ask_own(t);
	t->told = t->told && (cpu || wall || gil);
	if (!t->told)
		return;
	int64_t used = cpu && t->owed_ns > 0 ? t->owed_ns : 0;
	add(s, t, (struct weight){{used, wall ? l->since : 0, gil ? l->since : 0}}, l->now,
	    l->since);
	t->owed_ns -= used;
	if (cpu) {
		t->ran_stack = t->stack;
		t->ran_tags = t->tags;
	}
}

/* The only one of its process that ran when last asked, or waited for a CPU, is asked itself. */
static bool alone(const struct as_sampler *s, const struct as_sampled *p)
{
	return s->config.modes & AS_MODE_CPU && p->threads.n == 1 && p->ran;
}

/*
 * Where only CPU time counts, nobody needs to be asked while nobody runs: what
 * each has used since is told when it is asked again. Each of many threads has
 * a file, and one for the whole machine says so.
 */
static bool rests(const struct as_sampler *s, struct as_sampled *p)
{
	if (s->config.modes != AS_MODE_CPU || p->threads.n <= FEW || !as_ready_nobody(s->ready))
		return false;
	p->ran = false;
	return true;
}

/*
 * Threads are asked one by one, unless the process as a whole has used nothing:
 * then those that run wait for a CPU, too.
 */
static bool asleep(const struct as_sampler *s, struct as_sampled *p, int64_t now)
{
	int64_t was = p->used_ns;

	if (!(s->config.modes & AS_MODE_CPU) && p->threads.n <= FEW)
		return false;
	as_called(1);
	p->used_ns = as_clock(p->lone.clock);
	if (p->used_ns != was)
		p->stirred_ns = now;
	else if (!p->ran || now - p->stirred_ns > tick)
		return true;
	return rests(s, p);
}

/* Whose tasks are looked at. */
struct awaiting {
	struct as_sampler *s;
	struct as_sampled *p;
	int64_t now;
};

static void add_awaiting(void *arg, const struct as_buf *name, const struct as_pystack *stack,
			 int64_t since)
{
	const struct awaiting *a = arg;
	struct as_sampler *s = a->s;
	struct as_pythread task = {.stack = as_codes_stack(&a->p->codes, stack)};
	struct as_tag tags[2];
	size_t n = 0;

	if (s->config.processes)
		tags[n++] = (struct as_tag){text(s, "process"), 0, a->p->py.pid};
	tags[n++] = task_tag(s, name);
	task.tags = as_profile_tags(s->to, tags, n);
	add(s, &task, (struct weight){{0, since, 0}}, a->now, since);
}

static void look_at_tasks(struct as_sampler *s, struct as_sampled *p, int64_t now)
{
	struct awaiting a = {s, p, now};

	if (s->config.tasks && s->config.modes & AS_MODE_WALL)
		as_tasksight_awaiting(&p->tasks, now, s->stack, add_awaiting, &a);
}

/* One that has entered another interpreter has had its turn in the one that it came from. */
static bool had_turn(const struct as_pythreads *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i]->tid == tid && t->at[i]->told)
			return true;
	return false;
}

/* Those that have begun since, if any; nobody begins one while all are asleep. */
static bool look_at_new(struct as_sampler *s, struct as_sampled *p, struct look *l)
{
	if (!l->lists && !p->preceded)
		return true;
	if (!l->lists)
		as_pyheads_init(&l->heads, &p->threads);
	p->peek_ns = l->now + (p->leads ? peek_pause_led : peek_pause);
	if (as_pythreads_same(&p->threads, &l->heads))
		return true;
	if (!list(s, p, l->now, false))
		return false;
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i]->fresh && !had_turn(&p->threads, p->threads.at[i]->tid))
			look_at(s, p, i, l);
	return true;
}

/* False: its Python is gone. */
static bool look_at_process(struct as_sampler *s, struct as_sampled *p, int64_t now)
{
	struct look l;

	if (!refresh(s, p, now))
		return false;
	l.now = now;
	l.since = now - p->last_ns;
	l.alone = alone(s, p);
	l.asleep = !l.alone && asleep(s, p, now);
	l.lists = !l.asleep && now >= p->peek_ns;
	if (l.lists)
		as_pyheads_init(&l.heads, &p->threads);
	p->preceded = p->leads = false;
	p->ran &= l.asleep;
	l.holders = s->config.modes & AS_MODE_GIL
			    ? as_pythreads_holders(&p->threads, l.holder, HOLDERS_MOST)
			    : 0;
	for (size_t i = 0; i < p->threads.n; i++)
		look_at(s, p, i, &l);
	look_at_tasks(s, p, now);
	p->last_ns = now;
	return look_at_new(s, p, &l);
}

/* ── processes ────────────────────────────────────────────────────────── */

static void sampled_free(struct as_sampled *p)
{
	if (!p)
		return;
	as_pythreads_done(&p->threads);
	as_codes_done(&p->codes);
	free(p);
}

static void sampled_free_(struct as_sampled **p)
{
	sampled_free(*p);
}

bool as_sampler_has(const struct as_sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->nprocs; i++)
		if (s->proc[i]->py.pid == pid)
			return true;
	return false;
}

int as_sampler_add(struct as_sampler *s, pid_t pid, struct as_python_files *known,
		   struct as_err *err)
{
	as_cleanup(sampled_free_) struct as_sampled *p = as_zalloc(sizeof *p);

	if (!p || !as_grow(&s->proc, &s->procs_cap, s->nprocs, sizeof *s->proc, 8))
		return as_fail(err, AS_ENOMEM, "look at process %d", (int)pid);
	int r = as_python_find_again(s->env, pid, known, &p->py, err);
	if (r == AS_OK && s->config.tasks)
		r = as_tasksight_init(&p->tasks, s->env, &p->py, err);
	if (r < 0)
		return r;
	as_pythreads_init(&p->threads, s->env, &p->py);
	as_codes_init(&p->codes, &p->py, s->to);
	as_naming_init(&p->naming, &p->py);
	p->check_pause = check_first;
	p->used_ns = -1;
	if (clock_getcpuclockid(pid, &p->lone.clock) || !refresh(s, p, as_now()))
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)pid);
	p->last_ns = as_now();
	if (!s->nprocs)
		begin(s); /* what passed until somebody was found is no moment missed */
	s->proc[s->nprocs++] = as_take(p);
	return AS_OK;
}

void as_sampler_look(struct as_sampler *s, int64_t now)
{
	size_t kept = 0;

	s->slice = as_sampler_slice(&s->config, now);
	for (size_t i = 0; i < s->nprocs; i++) {
		if (look_at_process(s, s->proc[i], now))
			s->proc[kept++] = s->proc[i];
		else
			sampled_free(s->proc[i]);
	}
	s->nprocs = kept;
	s->count.ticks++;
	set_due(s, as_now());
}

/* One in two interpreters has its time in the first. */
static bool is_again(const struct as_pythreads *t, size_t i)
{
	for (size_t k = 0; t->interps > 1 && k < i; k++)
		if (t->at[k]->tid == t->at[i]->tid)
			return true;
	return false;
}

static void settle(struct as_sampler *s, struct as_sampled *p, size_t i, int64_t now)
{
	struct as_pythread *t = p->threads.at[i];
	struct as_pydeed did;

	p->lone.settle_ns = 0; /* by its own count, too */
	if (is_again(&p->threads, i) || !as_lone_ask(&p->lone, t, now, &did))
		return;
	t->owed_ns += did.used_ns;
	if (t->owed_ns <= 0)
		return;
	t->stack = t->ran_stack;
	t->tags = t->ran_stack ? t->ran_tags : t->tags;
	t->known = false;
	add_part(s, t, s->slice, (int64_t[AS_LEN(kinds)]){t->owed_ns}, false);
	t->owed_ns = 0;
}

void as_sampler_end(struct as_sampler *s, int64_t now)
{
	s->slice = as_sampler_slice(&s->config, now);
	for (size_t i = 0; s->config.modes & AS_MODE_CPU && i < s->nprocs; i++)
		for (size_t k = 0; k < s->proc[i]->threads.n; k++)
			settle(s, s->proc[i], k, now);
}

int as_sampler_open(struct as_sampler *s, const struct as_env *env,
		    const struct as_sampler_config *config, struct as_profile *to,
		    struct as_err *err)
{
	*s = (struct as_sampler){.env = env, .config = *config, .to = to, .ready = -1};
	s->stack = as_zalloc(sizeof *s->stack);
	if (!s->stack)
		return as_fail(err, AS_ENOMEM, "make room for a stack");
	s->ready = as_ready_open(env);
	s->seed = (uint64_t)as_now() | 1;
	begin(s);
	return AS_OK;
}

void as_sampler_close(struct as_sampler *s)
{
	for (size_t i = 0; i < s->nprocs; i++)
		sampled_free(s->proc[i]);
	free(s->proc);
	free(s->stack);
	as_close_(&s->ready);
	*s = (struct as_sampler){.ready = -1};
}
