#include "collect/pass.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "collect/threads.h"
#include "os/taskiter.h"

/* ── what differs ─────────────────────────────────────────────────────── */

/* Many are told of though they slept: one that is as it was has the row that it had. */
static void put(struct as_process *p, int64_t *to, int64_t v)
{
	p->changed |= *to != v;
	*to = v;
}

static void put_name(struct as_process *p, const char comm[AS_WIRE_COMM])
{
	if (!memcmp(p->stat.comm, comm, AS_WIRE_COMM))
		return;
	memcpy(p->stat.comm, comm, AS_WIRE_COMM);
	p->changed = p->renamed = true;
}

static void put_state(struct as_process *p, char state)
{
	p->changed |= p->stat.state != state;
	p->stat.state = state;
}

/* ── sums over threads ────────────────────────────────────────────────── */

enum { NUSAGE = sizeof(struct as_wire_usage) / sizeof(uint64_t) };

static void add(struct as_wire_usage *sum, const struct as_wire_usage *more)
{
	uint64_t a[NUSAGE], b[NUSAGE];

	memcpy(a, sum, sizeof a);
	memcpy(b, more, sizeof b);
	for (size_t i = 0; i < NUSAGE; i++)
		a[i] += b[i];
	memcpy(sum, a, sizeof a);
}

static void put_cpu(struct as_process *p, const struct as_wire_usage *u)
{
	int64_t system = p->stat.stime, user = p->stat.utime;

	as_process_split(&p->stat, (int64_t)u->cpu, (double)u->utime, (double)u->stime);
	p->changed |= p->stat.stime != system || p->stat.utime != user;
}

/* ── one process ──────────────────────────────────────────────────────── */

static void take_memory(struct as_process *p, const struct as_wire_group *g, int64_t page)
{
	int64_t rss = (int64_t)(g->file + g->anon + g->shmem), high = (int64_t)g->hwm;

	put(p, &p->stat.rss, rss);
	put(p, &p->stat.vsize, (int64_t)g->vsize * page);
	put(p, &p->status.rss, rss * page);
	put(p, &p->status.anon, (int64_t)g->anon * page);
	put(p, &p->status.file, (int64_t)g->file * page);
	put(p, &p->status.shmem, (int64_t)g->shmem * page);
	put(p, &p->status.swap, (int64_t)g->swap * page);
	put(p, &p->status.hwm, (high > rss ? high : rss) * page);
}

/* So many that the kernel side did not count them. */
static void count_files(struct as_process *p, const struct as_collect *c)
{
	int64_t was = p->fds;

	as_process_count_fds(p, c);
	p->changed |= p->fds != was;
}

static void take_group(struct as_process *p, const struct as_collect *c,
		       const struct as_wire_thread *t, const struct as_wire_group *g)
{
	p->stat.pid = t->pid;
	p->stat.ppid = g->parent;
	p->stat.start = (int64_t)t->start / (AS_SECOND / c->env->hz);
	put_name(p, t->comm);
	put_state(p, as_task_state(g));
	put(p, &p->stat.threads, g->threads);
	p->deputy = 0;
	if (p->stat.state == 'Z' && g->threads > 1)
		as_process_depute(p, c);
	if (p->stat.state != 'Z')
		take_memory(p, g, c->env->page);
	if (g->files != AS_WIRE_UNKNOWN && !p->deputy)
		put(p, &p->fds, (int64_t)g->files);
	else if (as_wants_group(c->want, AS_G_FDS))
		count_files(p, c);
}

/* /proc had told it in ticks: what is more in ns, is before. */
static void raise_children(struct as_process *p)
{
	p->base.cutime += (int64_t)p->told_ended.child_utime - p->stat.cutime;
	p->base.cstime += (int64_t)p->told_ended.child_stime - p->stat.cstime;
}

static void note_ended(struct as_process *p, const struct as_wire_ended *ended)
{
	static const struct as_wire_ended none;

	p->told_ended = *ended;
	p->ended_any = memcmp(ended, &none, sizeof none) != 0;
	p->io_news = true;
}

static void put_children(struct as_process *p, const struct as_wire_ended *ended)
{
	put(p, &p->stat.cutime, (int64_t)ended->child_utime);
	put(p, &p->stat.cstime, (int64_t)ended->child_stime);
	put(p, &p->stat.cminflt, (int64_t)ended->child_minflt);
	put(p, &p->stat.cmajflt, (int64_t)ended->child_majflt);
}

/* False: it is to be as it was told before, and was never told. */
static bool take_ended(struct as_process *p, const struct as_wire_thread *t,
		       const struct as_wire_group *g)
{
	if (t->kind == AS_WIRE_BRIEF && !p->ended_told)
		return false;
	if (t->kind != AS_WIRE_BRIEF)
		note_ended(p, &g->ended);
	p->ended_told = true;
	if (p->midway && !p->passed)
		raise_children(p);
	if (p->ended_any)
		put_children(p, &p->told_ended);
	else
		put_children(p,
			     &(struct as_wire_ended){0}); /* most have no more: it is not touched */
	return true;
}

static bool take_io(struct as_process *p, const struct as_wire_usage *u)
{
	const struct as_proc_io now = as_own_io(u);
	bool differs = memcmp(&p->io, &now, sizeof now) != 0;

	p->changed |= differs;
	p->io = now;
	return differs;
}

/* What is only known when all its threads were told. */
static void take_sum(struct as_process *p, const struct as_wire_usage *u)
{
	put_cpu(p, u);
	put(p, &p->stat.minflt, (int64_t)u->minflt);
	put(p, &p->stat.majflt, (int64_t)u->majflt);
	put(p, &p->status.voluntary, (int64_t)u->voluntary);
	put(p, &p->status.forced, (int64_t)u->forced);
	p->io_news |= take_io(p, u);
}

/*
 * What was before the run is now told by another: CPU time that /proc has in ticks, and of
 * context switches only the first thread's. It grew as much as it did.
 */
static void take_midway(struct as_process *p, const struct as_wire_usage *u)
{
	struct as_proc_stat *s = &p->stat;
	struct as_proc_base *b = &p->base;
	int64_t user = s->utime - b->utime, sys = s->stime - b->stime;

	if (p->by_clock)
		user = as_process_cpu(p) - b->utime - b->stime - sys;
	s->utime = s->stime = 0;
	put_cpu(p, u);
	b->utime = s->utime - user;
	b->stime = s->stime - sys;
}

/* The same of switches, which were so many. */
static void raise_base(struct as_process *p, int64_t voluntary, int64_t forced)
{
	if (voluntary == AS_PROC_NA)
		return;
	p->status_base.voluntary += p->status.voluntary - voluntary;
	p->status_base.forced += p->status.forced - forced;
}

/* All its threads were told: this is what the living used. */
static void settle(struct as_process *p, const struct as_pass *pass,
		   const struct as_wire_usage *living)
{
	struct as_wire_usage sum;
	bool takes_over = p->first_pass && p->midway;
	int64_t voluntary = p->status.voluntary, forced = p->status.forced;

	as_threads_untold(p, pass->c, &pass->members->pool, pass->n);
	if (p->ended_any) {
		sum = *living;
		add(&sum, &p->told_ended.threads);
		living = &sum;
	}
	if (takes_over)
		take_midway(p, living);
	take_sum(p, living);
	if (takes_over)
		raise_base(p, voluntary, forced);
	p->run_ended = p->ended_any ? (int64_t)p->told_ended.threads.cpu : 0;
	p->by_clock = true;
	p->fresh = true;
	p->changed |= p->first_pass;
	p->moves += p->changed;
	if (p->newcomer)
		as_process_meet(p, pass->c, &pass->members->pool);
	as_own_told(p, &p->told_ended.threads, p->io_news);
	p->io_news = false;
	p->newcomer = p->first_pass = false;
	p->settled = true;
}

/* ── all ──────────────────────────────────────────────────────────────── */

enum { NEAR = 3, FAR = 6 };

/*
 * Where one comes right after another the next ones will, too: all that is kept of them is
 * fetched, lest each waits for it in turn.
 */
static void fetch_next(const struct as_members *m, size_t at)
{
	if (at + FAR < m->n)
		as_fetch(m->v[at + FAR], offsetof(struct as_process, own.base));
	if (at + NEAR < m->n && m->v[at + NEAR]->nthreads)
		as_fetch(m->v[at + NEAR]->threads, sizeof(struct as_thread));
}

/* Both are mostly in the order of their numbers. */
static struct as_process *member(struct as_pass *pass, int32_t pid)
{
	const struct as_members *m = pass->members;
	size_t was = pass->at;

	while (pass->at < m->n && m->v[pass->at]->pid < pid)
		pass->at++;
	if (pass->at == m->n || m->v[pass->at]->pid != pid)
		return as_members_find(m, pid);
	if (pass->at == was + 1)
		fetch_next(m, pass->at);
	return m->v[pass->at];
}

static bool same(const struct as_process *p, const struct as_wire_thread *t)
{
	return p->start_ns == AS_PROC_NA ||
	       llabs(p->start_ns - (int64_t)t->start) <= AS_BIRTH_SLACK;
}

/*
 * Is this all that a pass has to tell of it? Then it is settled while it is at hand. Whom it
 * tells of for the first time waits until all are told: the sinks hear of them in order.
 */
static bool alone(const struct as_process *p, const struct as_pass *pass,
		  const struct as_wire_group *g)
{
	return g && g->threads == 1 && p->begun != pass->n && p->passed && as_process_seen(p);
}

static void hear(void *data, const struct as_wire_thread *t, const struct as_wire_group *g)
{
	struct as_pass *pass = data;
	struct as_process *p = member(pass, t->pid);

	if (!p || p->gone || (g && !same(p, t)))
		return;
	bool at_once = alone(p, pass, g), more = p->begun == pass->n;
	if (more && p->settled)
		return; /* a thread that was just born: the next pass knows of it */
	if (!more && !at_once)
		p->told_sum = (struct as_wire_usage){0};
	if (!at_once)
		add(&p->told_sum, &t->usage);
	p->begun = pass->n;
	p->settled = false;
	if (as_threads_wanted(pass->c->want))
		as_threads_told(p, pass->c, &pass->members->pool, t, pass->n);
	if (!g)
		return;
	if (!take_ended(p, t, g)) {
		pass->gap = true;
		return;
	}
	p->newcomer = !as_process_seen(p);
	take_group(p, pass->c, t, g);
	p->first_pass = !p->passed;
	p->passed = pass->n;
	if (at_once)
		settle(p, pass, &t->usage);
}

/* Is it added up from the processes, and not counted or reckoned elsewhere? */
static bool is_sum(enum as_field_id f)
{
	return f != AS_F_JOB_MEMORY && !(f >= AS_F_JOB_DISK_READ && f <= AS_F_JOB_DISK_WRITES);
}

/* From now on the numbers come from elsewhere. */
static void tell_origins(const struct as_pass *pass, const char *source)
{
	const struct as_collect *c = pass->c;
	static const bool groups[AS_NGROUPS] = {
		[AS_G_CPU] = true,   [AS_G_FAULTS] = true, [AS_G_MEMORY] = true,  [AS_G_IO] = true,
		[AS_G_SCHED] = true, [AS_G_FDS] = true,    [AS_G_THREADS] = true,
	};

	for (enum as_field_id f = 0; f < AS_NFIELDS; f++) {
		const struct as_field *field = &as_fields[f];

		if (field->scope >= AS_JOB && field->scope <= AS_THREAD && groups[field->group] &&
		    is_sum(f))
			as_collect_origin(c, f, AS_MEASURED, "%s", source);
	}
	as_threads_doubt_again(c, &pass->members->pool);
}

/* Is there one who can tell? Another one begins anew. */
static bool can_tell(struct as_pass *pass, const struct as_witness *w)
{
	if (w->now.ops != &as_life_bpf)
		return false;
	if (pass->of != w->now.source)
		pass->first = pass->n + 1;
	pass->of = w->now.source;
	return true;
}

/* The iterator told of it once, and it is there as far as anybody knows. */
static bool counted(const struct as_pass *pass, const struct as_process *p)
{
	return p->passed >= pass->first && p->passed < pass->n && !p->ended && !p->gone &&
	       !p->missing;
}

bool as_pass_complete(struct as_pass *pass, const struct as_members *m)
{
	uint64_t n = 0;

	for (size_t i = 0; pass->made && i < m->n; i++)
		n += counted(pass, m->v[i]);
	return pass->complete = pass->made && !pass->gap && n == pass->quiet;
}

/* What every tick looks at of all members is in no cache any more: it comes all at once. */
static void fetch(const struct as_members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		__builtin_prefetch(m->v[i]);
		__builtin_prefetch((const char *)m->v[i] + AS_LINE); /* it may begin anywhere */
	}
}

static bool walk(struct as_pass *pass, bool all)
{
	struct as_err err;

	fetch(pass->members);
	pass->n++;
	pass->at = 0;
	pass->gap = false;
	bool told = as_taskiter_pass(pass->of, all, hear, pass, &pass->quiet, &err) == AS_OK;
	if (pass->n == 1 && told)
		tell_origins(pass, "BPF task iterator");
	if (pass->told && !told)
		tell_origins(pass, "/proc, since there are too many for BPF");
	return pass->told = told;
}

void as_pass_make(struct as_pass *pass, const struct as_witness *w, struct as_members *m,
		  const struct as_collect *c, bool all)
{
	pass->made = pass->complete = false;
	if (!can_tell(pass, w))
		return;
	pass->members = m;
	pass->c = c;
	pass->made = walk(pass, all);
	for (size_t i = 0; pass->made && i < m->n; i++)
		if (as_pass_told(pass, m->v[i]) && !m->v[i]->settled)
			settle(m->v[i], pass, &m->v[i]->told_sum);
}
