#include "collect/ledger.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "collect/source.h"
#include "collect/threads.h"

/* ── usage as a row of numbers ────────────────────────────────────────── */

enum { NUSAGE = sizeof(struct as_life_usage) / sizeof(int64_t) };

static void to_array(const struct as_life_usage *u, int64_t v[NUSAGE])
{
	memcpy(v, u, sizeof *u);
}

static void from_array(struct as_life_usage *u, const int64_t v[NUSAGE])
{
	memcpy(u, v, sizeof *u);
}

static struct as_life_usage unknown(void)
{
	struct as_life_usage u;
	int64_t v[NUSAGE];

	for (size_t i = 0; i < NUSAGE; i++)
		v[i] = AS_PROC_NA;
	from_array(&u, v);
	return u;
}

void as_usage_add(struct as_life_usage *sum, const struct as_life_usage *more)
{
	int64_t a[NUSAGE], b[NUSAGE];

	to_array(sum, a);
	to_array(more, b);
	for (size_t i = 0; i < NUSAGE; i++)
		a[i] += b[i] == AS_PROC_NA ? 0 : b[i];
	from_array(sum, a);
}

/*
 * User and system time are told apart anew at every look, by few ticks: neither
 * may go back, and together they are the CPU time, which is known better.
 */
static void split(struct as_life_usage *u, const struct as_life_usage *x,
		  const struct as_life_usage *y)
{
	if (x->user_ns == AS_PROC_NA || y->user_ns == AS_PROC_NA)
		return;
	if (y->user_ns > x->user_ns)
		u->sys_ns = u->cpu_ns - u->user_ns;
	else if (y->sys_ns > x->sys_ns)
		u->user_ns = u->cpu_ns - u->sys_ns;
}

/* The larger of the two in each: counters only grow. What `y` says is older. */
static struct as_life_usage larger(const struct as_life_usage *x, const struct as_life_usage *y)
{
	struct as_life_usage u;
	int64_t a[NUSAGE], b[NUSAGE];

	to_array(x, a);
	to_array(y, b);
	for (size_t i = 0; i < NUSAGE; i++)
		a[i] = b[i] > a[i] ? b[i] : a[i]; /* unknown is the smallest there is */
	from_array(&u, a);
	split(&u, x, y);
	return u;
}

/* What it ended with. Where its end told nothing, none seen before does not mean none. */
static struct as_life_usage last_words(const struct as_life_usage *told, struct as_life_usage seen)
{
	int64_t a[NUSAGE], b[NUSAGE];

	to_array(told, a);
	to_array(&seen, b);
	for (size_t i = 0; i < NUSAGE; i++)
		b[i] = a[i] == AS_PROC_NA && b[i] == 0 ? AS_PROC_NA : b[i];
	from_array(&seen, b);
	return larger(told, &seen);
}

struct as_life_usage as_process_usage(const struct as_process *p)
{
	struct as_life_usage u = unknown();

	if (!as_process_seen(p))
		return u;
	u.user_ns = p->stat.utime - p->base.utime;
	u.sys_ns = p->stat.stime - p->base.stime;
	u.cpu_ns = u.user_ns + u.sys_ns;
	u.minflt = p->stat.minflt - p->base.minflt;
	u.majflt = p->stat.majflt - p->base.majflt;
	u.wait_ns = as_threads_wait(p);
	u.voluntary = as_since(p->status.voluntary, p->status_base.voluntary);
	u.forced = as_since(p->status.forced, p->status_base.forced);
	u.read_bytes = p->own.io.read_bytes;
	u.write_bytes = p->own.io.write_bytes;
	u.cancelled_bytes = p->own.io.cancelled;
	u.rchar = p->own.io.rchar;
	u.wchar = p->own.io.wchar;
	u.syscr = p->own.io.syscr;
	u.syscw = p->own.io.syscw;
	u.hwm = as_process_hwm(p);
	return u;
}

/* ── who it is ────────────────────────────────────────────────────────── */

void as_ledger_init(struct as_ledger *g)
{
	*g = (struct as_ledger){0};
}

void as_ledger_done(struct as_ledger *g)
{
	free(g->departed);
	*g = (struct as_ledger){0};
}

static bool close_births(int64_t a, int64_t b)
{
	return a == AS_PROC_NA || b == AS_PROC_NA || llabs(a - b) <= AS_BIRTH_SLACK;
}

/* What is told later is mostly in the order of the ends: look on from where the last one was. */
static struct as_departed *departed_find(struct as_ledger *g, int32_t pid, int64_t start_ns)
{
	for (size_t i = 0; i < g->ndeparted; i++) {
		size_t at = (g->settled + i) % g->ndeparted;
		struct as_departed *d = &g->departed[at];

		if (d->pid != pid || !close_births(d->start_ns, start_ns))
			continue;
		g->settled = at;
		return d;
	}
	return NULL;
}

bool as_ledger_ended(const void *ledger, int32_t pid, int64_t start_ns)
{
	const struct as_ledger *g = ledger;

	for (size_t i = 0; i < g->ndeparted; i++)
		if (g->departed[i].pid == pid && g->departed[i].start_ns != AS_PROC_NA &&
		    close_births(g->departed[i].start_ns, start_ns))
			return true;
	return false;
}

/* The living member that is meant, or NULL: a later one may have its number. */
static struct as_process *meant(const struct as_members *m, const struct as_life *life)
{
	struct as_process *p = as_members_find(m, life->pid);

	return p && close_births(p->start_ns, life->start_ns) ? p : NULL;
}

static void set_comm(struct as_process *p, const char *comm)
{
	if (comm[0])
		(void)snprintf(p->stat.comm, sizeof p->stat.comm, "%.15s", comm);
}

/* ── births and execs ─────────────────────────────────────────────────── */

static void inherit(struct as_process *p, const struct as_process *parent,
		    const struct as_collect *c)
{
	p->parent = parent->instance;
	(void)snprintf(p->stat.comm, sizeof p->stat.comm, "%s", parent->stat.comm);
	if (parent->args)
		as_process_args(p, c, parent->args, strlen(parent->args));
}

static void born(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		 const struct as_life *life, bool show)
{
	struct as_process *p = as_members_find(m, life->pid);

	if (p && !p->ended && close_births(p->start_ns, life->start_ns)) {
		p->named |= !g->two; /* no news */
		return;
	}
	if (g->two && departed_find(g, life->pid, life->start_ns))
		return;
	if (p && !p->ended) /* its end was never told */
		as_ledger_depart(g, m, c, p, NULL, show);
	else if (p)
		as_members_remove(m, p);
	p = as_members_born(m, c, life->pid);
	if (!p)
		return;
	const struct as_process *parent = as_members_find(m, life->parent);
	p->start_ns = life->start_ns;
	p->stat.ppid = life->parent;
	p->named = !g->two; /* the new one need not know what the old one tells */
	if (parent)
		inherit(p, parent, c);
	set_comm(p, life->comm);
	g->births++;
}

/* What we started ourselves may be over before its command line can be read. */
static void args_of_command(struct as_process *p, const struct as_collect *c)
{
	as_auto_buf struct as_buf line = AS_BUF(AS_BUF_LINE);

	for (char *const *word = c->argv; *word; word++)
		as_buf_add(&line, *word, strlen(*word) + 1);
	as_process_args(p, c, line.p, line.len);
}

static void changed(struct as_members *m, const struct as_collect *c, const struct as_life *life)
{
	struct as_process *p = meant(m, life);

	if (!p || p->ended)
		return;
	p->stat.comm[0] = '\0'; /* whose name it had is another's now */
	set_comm(p, life->comm);
	if (life->args && life->args_len)
		as_process_args(p, c, life->args, life->args_len);
	else if (p->pid == c->root && c->argv && !p->args)
		args_of_command(p, c);
	else
		as_process_args(p, c, NULL, 0);
	p->told[0] = '\0'; /* the next tick tells who it is now */
	p->grown_up = false;
	p->renamed = true;
}

static void threaded(struct as_members *m, const struct as_life *life)
{
	struct as_process *p = meant(m, life);

	if (p)
		p->own.threaded = true;
}

/* ── deaths ───────────────────────────────────────────────────────────── */

/* Parents first: a list in which children stand before them is hard to read. */
static void tell_parent(const struct as_members *m, const struct as_collect *c,
			const struct as_process *p)
{
	struct as_process *parent = as_members_find(m, p->stat.ppid);

	if (!parent || parent->told[0] || parent->instance != p->parent || parent == p)
		return;
	tell_parent(m, c, parent);
	as_process_tell(parent, c);
}

static void keep(struct as_ledger *g, const struct as_process *p, const struct as_collect *c,
		 const struct as_life_usage *final, bool known)
{
	if (!as_grow(&g->departed, &g->departed_cap, g->ndeparted, sizeof *g->departed, 64)) {
		*c->starved = true;
		return;
	}
	g->departed[g->ndeparted++] = (struct as_departed){
		.pid = p->pid,
		.instance = p->instance,
		.start_ns = p->start_ns,
		.died_ns = p->died_ns,
		.known = known,
		.usage = *final,
	};
}

/* Of a process with one thread, what the process used. */
static void last_of_thread(struct as_process *p, const struct as_life_usage *usage)
{
	if (usage->threads != 1 || p->nthreads != 1)
		return;
	if (usage->cpu_ns > p->threads[0].now.run_ns)
		p->threads[0].now.run_ns = usage->cpu_ns;
	if (usage->wait_ns > p->threads[0].now.wait_ns)
		p->threads[0].now.wait_ns = usage->wait_ns;
}

/*
 * Are its threads' numbers their last? Of one alone they are the process's, which BPF tells (and
 * taskstats a tick short), or it was looked at when it had ended.
 */
static bool threads_final(const struct as_process *p, const struct as_life_usage *usage)
{
	if (p->nthreads != 1)
		return !p->nthreads;
	return p->stat.state == 'Z' || (usage && usage->threads == 1 && usage->file != AS_PROC_NA);
}

/* It may have had fewer mapped files at its peak than when it was looked at, hardly more. */
static void note_peak(struct as_ledger *g, const struct as_process *p,
		      const struct as_life_usage *usage)
{
	int64_t file = usage->file > p->file_max ? usage->file : p->file_max;

	g->hwm_max = usage->hwm > g->hwm_max ? usage->hwm : g->hwm_max;
	if (usage->file == AS_PROC_NA || usage->hwm == AS_PROC_NA)
		g->blurred++;
	else if (usage->hwm - file > g->used_max)
		g->used_max = usage->hwm - file;
}

static int64_t split_by_ticks(const struct as_life_usage *u)
{
	enum { TICK_MS = 4, MANY = 4 };

	return u->cpu_ns != AS_PROC_NA && u->cpu_ns >= MANY * TICK_MS * AS_MSEC ? u->cpu_ns : 0;
}

bool as_ledger_split(const struct as_ledger *g, const struct as_members *m, int64_t ns)
{
	int64_t sum = g->split_ns;

	for (size_t i = 0; sum < ns && i < m->n; i++) {
		struct as_life_usage u = as_process_usage(m->v[i]);

		sum += m->v[i]->ended ? 0 : split_by_ticks(&u);
	}
	return sum >= ns;
}

/*
 * It ended between two looks, and whoever waited for it does not tell what it used after the
 * last one: what is told of processes is not measured to their ends.
 */
static void doubt_last_look(struct as_ledger *g, const struct as_collect *c,
			    const struct as_process *p)
{
	static const enum as_group groups[] = {AS_G_CPU, AS_G_FAULTS, AS_G_IO, AS_G_SCHED};

	if (g->last_looks || p->gone || p->stat.state == 'Z' || !as_process_seen(p))
		return;
	g->last_looks = true;
	for (size_t i = 0; i < AS_LEN(groups); i++)
		as_collect_origins(c, AS_PROCESS, groups[i], AS_ATTRIBUTED,
				   "the last look at each that ended");
}

void as_ledger_depart(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		      struct as_process *p, const struct as_life_usage *usage, bool show)
{
	struct as_life_usage seen = as_process_usage(p), final = seen;
	/* Counters of one that ran before the run began are told from its birth on. */
	bool known = usage && usage->cpu_ns != AS_PROC_NA && !p->midway;

	if (known) {
		last_of_thread(p, usage);
		final = last_words(usage, seen);
		note_peak(g, p, usage);
	}
	if (!known)
		doubt_last_look(g, c, p);
	if (!threads_final(p, known ? usage : NULL))
		as_threads_doubt(c, &m->pool);
	if (p->died_ns == AS_NA)
		p->died_ns = as_now() - c->start_ns;
	g->deaths++;
	g->unknown += !known;
	as_usage_add(&g->sum, known ? usage : &seen);
	g->split_ns += split_by_ticks(known ? usage : &seen);
	tell_parent(m, c, p);
	as_process_tell(p, c);
	if (show)
		keep(g, p, c, &final, known);
	p->ended = true;
	if (!as_process_seen(p))
		as_members_remove(m, p);
}

static void take_off(int64_t *count, int64_t less)
{
	if (*count != AS_PROC_NA && *count >= less)
		*count -= less;
}

/* Whoever tells of its end counts from its birth; it was ours until it was the command. */
static struct as_life_usage since_command(const struct as_life *life, const struct as_collect *c)
{
	struct as_life_usage u = life->usage;

	if (life->pid == c->root && c->cgroup) {
		take_off(&u.syscw, c->cgroup->joins);
		take_off(&u.wchar, c->cgroup->joins);
	}
	return u;
}

static void died(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		 const struct as_life *life, bool show)
{
	struct as_process *p = meant(m, life);
	struct as_life_usage usage = since_command(life, c);

	if (!p || p->ended)
		return;
	set_comm(p, life->comm);
	p->died_ns = life->t_ns - c->start_ns;
	p->ended_by = life->status;
	if (p->pid == c->root && c->ended)
		*c->ended = p->died_ns;
	as_ledger_depart(g, m, c, p, &usage, show);
}

/* More is known of it: what that is more goes to the sums as well. */
static void amend(struct as_ledger *g, struct as_departed *d, const struct as_life_usage *u)
{
	struct as_life_usage was = d->usage;

	d->usage = larger(u, &was);
	d->tick = 0; /* shown, or shown once more */
	if (was.cpu_ns == AS_PROC_NA)
		was.cpu_ns = was.user_ns = was.sys_ns = 0;
	g->sum.cpu_ns += d->usage.cpu_ns - was.cpu_ns;
	g->sum.user_ns += d->usage.user_ns - was.user_ns;
	g->sum.sys_ns += d->usage.sys_ns - was.sys_ns;
}

static void settled(struct as_ledger *g, const struct as_members *m, const struct as_collect *c,
		    const struct as_life *life)
{
	struct as_life_usage usage = since_command(life, c);
	struct as_departed *d = departed_find(g, life->pid, life->start_ns);
	struct as_process *p = meant(m, life);

	if (!d || !d->known || life->usage.cpu_ns == AS_PROC_NA)
		return;
	d->settled = g->settles = true;
	if (p)
		last_of_thread(p, &usage);
	amend(g, d, &usage);
}

void as_ledger_reaped(struct as_ledger *g, const struct as_process *p)
{
	struct as_departed *d = departed_find(g, p->pid, p->start_ns);
	struct as_life_usage u = as_process_usage(p);

	if (d && u.cpu_ns > d->usage.cpu_ns)
		amend(g, d, &u);
}

void as_ledger_told(struct as_ledger *g, struct as_members *m, const struct as_collect *c,
		    const struct as_life *life, bool show)
{
	switch (life->kind) {
	case AS_LIFE_BORN:
		born(g, m, c, life, show);
		break;
	case AS_LIFE_EXEC:
		changed(m, c, life);
		break;
	case AS_LIFE_THREADED:
		threaded(m, life);
		break;
	case AS_LIFE_DIED:
		died(g, m, c, life, show);
		break;
	case AS_LIFE_SETTLED:
		settled(g, m, c, life);
		break;
	}
}

/* ── rows ─────────────────────────────────────────────────────────────── */

static void row_of(const struct as_departed *d, const struct as_collect *c, struct as_frame *frame)
{
	int64_t *row = as_frame_row(frame, AS_PROCESS, d->instance);
	const struct as_life_usage *u = &d->usage;

	/* None at all is less than the tick of taskstats: nobody lives without using some. */
	if (u->cpu_ns != 0) {
		as_put(c, row, AS_F_PROC_USER, u->user_ns);
		as_put(c, row, AS_F_PROC_SYSTEM, u->sys_ns);
	}
	as_put(c, row, AS_F_PROC_WAIT, u->wait_ns);
	as_put(c, row, AS_F_PROC_MINFLT, u->minflt);
	as_put(c, row, AS_F_PROC_MAJFLT, u->majflt);
	as_put(c, row, AS_F_PROC_CTX_VOL, u->voluntary);
	as_put(c, row, AS_F_PROC_CTX_INV, u->forced);
	as_put(c, row, AS_F_PROC_HWM, u->hwm);
	as_put(c, row, AS_F_PROC_READ, u->read_bytes);
	as_put(c, row, AS_F_PROC_WRITE, u->write_bytes);
	as_put(c, row, AS_F_PROC_CANCELLED, u->cancelled_bytes);
	as_put(c, row, AS_F_PROC_RCHAR, u->rchar);
	as_put(c, row, AS_F_PROC_WCHAR, u->wchar);
	as_put(c, row, AS_F_PROC_SYSCR, u->syscr);
	as_put(c, row, AS_F_PROC_SYSCW, u->syscw);
}

enum { SETTLE_MS = 200 };

static bool may_settle(const struct as_ledger *g, const struct as_departed *d, int64_t t_ns)
{
	return g->settles && d->known && !d->settled && t_ns - d->died_ns < SETTLE_MS * AS_MSEC;
}

/* Nobody waited for it yet: whoever looks for members still finds it. */
static bool lingers(const struct as_departed *d)
{
	as_called(1);
	return kill(d->pid, 0) == 0 || errno != ESRCH;
}

void as_ledger_rows(struct as_ledger *g, const struct as_collect *c, struct as_frame *frame,
		    uint64_t tick, bool last)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->ndeparted; i++) {
		struct as_departed *d = &g->departed[i];

		if (d->tick && d->tick + 1 < tick && !(g->lost && lingers(d)))
			continue;
		if (!d->tick && (last || !may_settle(g, d, frame->t_ns))) {
			row_of(d, c, frame);
			d->tick = tick;
		}
		g->departed[kept++] = *d;
	}
	g->ndeparted = kept;
	g->settled = 0;
}
