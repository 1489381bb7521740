#include "os/life_tasks.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "os/proc.h"

enum { PARENTS_MAX = 4, ARGS_MAX = 8192 };

struct process {
	int32_t pid; /* 0: this place is free                        */
	uint32_t generation;
	uint32_t era;           /* how many programs it was            */
	uint32_t living, ended; /* threads                             */
	uint32_t counted, ever; /* whose stats came; that there were   */
	bool midway;            /* it was there before us              */
	bool doubtful;          /* its first thread may have ended in an exec: look */
	bool dying, exec;       /* it is in the list of that name      */
	int32_t status;
	int64_t since_ns, start_ns, exec_ns, died_ns;
	struct as_task_stats sum; /* of its threads                      */
};

/* A thread, in an open hash of their numbers. Stale when its process's place has a new owner. */
struct thread {
	int32_t tid; /* 0: free */
	uint32_t at, generation, era;
	bool ended;
};

struct as_life_tasks {
	struct process *v;
	size_t n, cap;
	struct thread *threads;
	size_t nthreads, nslots; /* nslots: a power of two               */
	uint32_t *spare;         /* free places of v                     */
	size_t nspare, spare_cap;
	uint32_t *dying, *execs;
	size_t ndying, dying_cap, nexecs, execs_cap;
	int32_t parents[PARENTS_MAX];
	size_t nparents;
	uint64_t lost;
};

int as_life_tasks_new(struct as_life_tasks **ret, struct as_err *err)
{
	*ret = as_zalloc(sizeof **ret);
	return *ret ? AS_OK : as_fail(err, AS_ENOMEM, "no memory for a table of processes");
}

void as_life_tasks_free(struct as_life_tasks *t)
{
	if (!t)
		return;
	free(t->v);
	free(t->threads);
	free(t->spare);
	free(t->dying);
	free(t->execs);
	free(t);
}

/* ── threads by number ────────────────────────────────────────────────── */

static size_t slot_of(const struct as_life_tasks *t, int32_t tid)
{
	size_t at = (size_t)((uint64_t)(uint32_t)tid * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (at &= t->nslots - 1; t->threads[at].tid && t->threads[at].tid != tid;)
		at = (at + 1) & (t->nslots - 1);
	return at;
}

static bool stale(const struct as_life_tasks *t, const struct thread *th)
{
	return t->v[th->at].generation != th->generation;
}

static struct thread *thread_find(const struct as_life_tasks *t, int32_t tid)
{
	struct thread *th = t->nslots ? &t->threads[slot_of(t, tid)] : NULL;

	return th && th->tid && !stale(t, th) ? th : NULL;
}

/* A larger table, without the stale. */
static bool rehash(struct as_life_tasks *t)
{
	struct as_life_tasks old = *t;
	size_t fresh = 0;

	for (size_t i = 0; i < old.nslots; i++)
		fresh += old.threads[i].tid && !stale(t, &old.threads[i]);
	for (t->nslots = 256; t->nslots < fresh * 4;)
		t->nslots *= 2;
	t->threads = as_zalloc_n(t->nslots, sizeof *t->threads);
	if (!t->threads) {
		*t = old;
		return false;
	}
	t->nthreads = fresh;
	for (size_t i = 0; i < old.nslots; i++)
		if (old.threads[i].tid && !stale(t, &old.threads[i]))
			t->threads[slot_of(t, old.threads[i].tid)] = old.threads[i];
	free(old.threads);
	return true;
}

static bool thread_add(struct as_life_tasks *t, int32_t tid, uint32_t at)
{
	if (t->nthreads * 2 >= t->nslots && !rehash(t))
		return false;
	struct thread *th = &t->threads[slot_of(t, tid)];
	t->nthreads += !th->tid;
	*th = (struct thread){tid, at, t->v[at].generation, t->v[at].era, false};
	return true;
}

/* ── processes ────────────────────────────────────────────────────────── */

static struct process *process_find(const struct as_life_tasks *t, int32_t pid)
{
	const struct thread *th = thread_find(t, pid);

	return th && t->v[th->at].pid == pid ? &t->v[th->at] : NULL;
}

static bool place(struct as_life_tasks *t, uint32_t *ret)
{
	if (t->nspare) {
		*ret = t->spare[--t->nspare];
		return true;
	}
	/* A place for it in every list, so that ending it needs no memory. */
	if (!as_grow(&t->v, &t->cap, t->n, sizeof *t->v, 16) ||
	    !as_grow(&t->spare, &t->spare_cap, t->n, sizeof *t->spare, 16) ||
	    !as_grow(&t->dying, &t->dying_cap, t->n, sizeof *t->dying, 16) ||
	    !as_grow(&t->execs, &t->execs_cap, t->n, sizeof *t->execs, 16))
		return false;
	*ret = (uint32_t)t->n++;
	t->v[*ret] = (struct process){0};
	return true;
}

static struct process *process_add(struct as_life_tasks *t, int32_t pid, int64_t since_ns)
{
	uint32_t at = 0, generation;

	if (!place(t, &at))
		return NULL;
	generation = t->v[at].generation + 1;
	t->v[at] = (struct process){.generation = generation};
	if (!thread_add(t, pid, at)) {
		t->spare[t->nspare++] = at;
		return NULL;
	}
	struct process *p = &t->v[at];
	*p = (struct process){.pid = pid,
			      .generation = generation,
			      .living = 1,
			      .ever = 1,
			      .since_ns = since_ns,
			      .start_ns = AS_PROC_NA};
	return p;
}

static void process_drop(struct as_life_tasks *t, struct process *p)
{
	p->pid = 0;
	p->generation++;
	t->spare[t->nspare++] = (uint32_t)(p - t->v);
}

/* ── who belongs ──────────────────────────────────────────────────────── */

int as_life_tasks_parent(struct as_life_tasks *t, int32_t pid, struct as_err *err)
{
	if (t->nparents == PARENTS_MAX)
		return as_fail(err, AS_EBUG, "more than %d parents", PARENTS_MAX);
	t->parents[t->nparents++] = pid;
	return AS_OK;
}

static bool belongs(const struct as_life_tasks *t, int32_t parent)
{
	for (size_t i = 0; i < t->nparents; i++)
		if (t->parents[i] == parent)
			return true;
	return process_find(t, parent) != NULL;
}

int as_life_tasks_member(struct as_life_tasks *t, int32_t pid, const int32_t *tids, size_t n,
			 int64_t now_ns, struct as_err *err)
{
	if (process_find(t, pid))
		return AS_OK; /* no news */
	struct process *p = process_add(t, pid, now_ns);
	if (!p)
		return as_fail(err, AS_ENOMEM, "no memory to follow process %d", pid);
	p->midway = true;
	p->living = 0;
	for (size_t i = 0; i < n; i++)
		p->living += tids[i] == pid || thread_add(t, tids[i], (uint32_t)(p - t->v));
	p->ever = p->living;
	return AS_OK;
}

/* ── what it used ─────────────────────────────────────────────────────── */

static void unknown(struct as_life_usage *u)
{
	*u = (struct as_life_usage){AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
				    AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
				    AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA, AS_PROC_NA,
				    AS_PROC_NA, AS_PROC_NA, AS_PROC_NA};
}

/* The scheduler's time, split as the tick saw it; all of it in user code where it saw nothing. */
static void split(struct as_life_usage *u, int64_t user_us, int64_t sys_us)
{
	double share = sys_us > 0 ? (double)sys_us / (double)(user_us + sys_us) : 0;

	u->sys_ns = (int64_t)((double)u->cpu_ns * share);
	if (u->sys_ns > u->cpu_ns) /* a double that was rounded up */
		u->sys_ns = u->cpu_ns;
	u->user_ns = u->cpu_ns - u->sys_ns;
}

/* The kernel tells these in steps of 1024: none at all is less than one step. */
static int64_t in_steps(int64_t v)
{
	return v ? v : AS_PROC_NA;
}

static void usage_of(const struct process *p, bool whole, struct as_life_usage *ret)
{
	const struct as_task_stats *s = &p->sum;

	unknown(ret);
	if (!p->midway)
		ret->threads = p->ever;
	/* Of one that we know only a part of, nothing is known. */
	if (!whole || p->midway || p->counted < p->ended)
		return;
	*ret = (struct as_life_usage){
		.cpu_ns = s->cpu_ns,
		.wait_ns = s->wait_ns,
		.minflt = s->minflt,
		.majflt = s->majflt,
		.voluntary = s->voluntary,
		.forced = s->forced,
		.read_bytes = s->read_bytes,
		.write_bytes = s->write_bytes,
		.cancelled_bytes = s->cancelled_bytes,
		.rchar = in_steps(s->rchar),
		.wchar = in_steps(s->wchar),
		.syscr = in_steps(s->syscr),
		.syscw = in_steps(s->syscw),
		.hwm = s->hwm,
		.file = AS_PROC_NA, /* nobody tells */
		.threads = p->ever,
	};
	split(ret, s->user_us, s->sys_us);
}

/* Both are at most AS_STATS_MOST, and so is the sum. */
static void add(int64_t *sum, int64_t more)
{
	*sum = *sum + more > AS_STATS_MOST ? AS_STATS_MOST : *sum + more;
}

bool as_life_tasks_stats(struct as_life_tasks *t, const struct as_task_stats *s)
{
	const struct thread *th = thread_find(t, s->tid);

	if (!th)
		return false;
	struct process *p = &t->v[th->at];
	struct as_task_stats *sum = &p->sum;
	if (s->tid == p->pid || !sum->comm[0])
		memcpy(sum->comm, s->comm, sizeof sum->comm);
	sum->lived_ns = s->lived_ns;
	add(&sum->cpu_ns, s->cpu_ns);
	add(&sum->wait_ns, s->wait_ns);
	add(&sum->user_us, s->user_us);
	add(&sum->sys_us, s->sys_us);
	add(&sum->minflt, s->minflt);
	add(&sum->majflt, s->majflt);
	add(&sum->voluntary, s->voluntary);
	add(&sum->forced, s->forced);
	add(&sum->rchar, s->rchar);
	add(&sum->wchar, s->wchar);
	add(&sum->syscr, s->syscr);
	add(&sum->syscw, s->syscw);
	add(&sum->read_bytes, s->read_bytes);
	add(&sum->write_bytes, s->write_bytes);
	add(&sum->cancelled_bytes, s->cancelled_bytes);
	sum->hwm = s->hwm > sum->hwm ? s->hwm : sum->hwm;
	p->counted++;
	return true;
}

/* ── events ───────────────────────────────────────────────────────────── */

static struct as_life life_of(const struct process *p, enum as_life_kind kind, int64_t t_ns)
{
	struct as_life life = {.kind = kind, .pid = p->pid, .t_ns = t_ns, .start_ns = p->start_ns};

	unknown(&life.usage);
	return life;
}

/*
 * The connector tells an end when all is over, its parent may know before. How long the
 * only thread has lived is counted until it began to end, as BPF has it; its birth is told
 * a little late, so this is never too early.
 */
static int64_t end_of(const struct process *p, bool whole)
{
	bool only = whole && !p->midway && p->ever == 1 && p->counted == 1 && p->sum.lived_ns;
	int64_t end = only ? p->since_ns + p->sum.lived_ns : p->died_ns;

	return end < p->died_ns ? end : p->died_ns;
}

static void tell_death(const struct process *p, bool whole, const struct as_life_ear *ear)
{
	struct as_life life = life_of(p, AS_LIFE_DIED, end_of(p, whole));

	life.status = p->status;
	memcpy(life.comm, p->sum.comm, sizeof life.comm);
	/* Its number has it until somebody waits for it, and a living one then is another. */
	if (ear->look.comm && !ear->look.alive(ear->look.data, p->pid))
		ear->look.comm(ear->look.data, p->pid, life.comm);
	usage_of(p, whole, &life.usage);
	ear->fn(ear->data, &life);
}

static void remove_from(uint32_t *list, size_t *n, uint32_t what)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i] == what) {
			memmove(list + i, list + i + 1, (--*n - i) * sizeof *list);
			return;
		}
}

/* Its number has a new owner already: its own end comes late, or never. */
static void replaced(struct as_life_tasks *t, struct process *p, const struct as_life_ear *ear)
{
	if (p->dying) {
		remove_from(t->dying, &t->ndying, (uint32_t)(p - t->v));
		tell_death(p, true, ear);
	}
	if (p->exec)
		remove_from(t->execs, &t->nexecs, (uint32_t)(p - t->v));
	process_drop(t, p);
}

static void look_at(const struct process *p, const struct as_life_look *look, struct as_life *life,
		    char args[ARGS_MAX])
{
	life->args = args;
	life->args_len = look->args(look->data, p->pid, args, ARGS_MAX);
	if (look->comm)
		look->comm(look->data, p->pid, life->comm);
}

/* Which program it is now. Of one that ended meanwhile nothing is left to look at. */
static void tell_exec(struct as_life_tasks *t, struct process *p, const struct as_life_ear *ear)
{
	struct as_life life = life_of(p, AS_LIFE_EXEC, p->exec_ns);
	char args[ARGS_MAX];

	remove_from(t->execs, &t->nexecs, (uint32_t)(p - t->v));
	p->exec = false;
	if (!p->dying)
		look_at(p, &ear->look, &life, args);
	ear->fn(ear->data, &life);
}

static void new_thread(struct as_life_tasks *t, const struct as_cn *e,
		       const struct as_life_ear *ear)
{
	struct process *p = process_find(t, e->pid);

	/* One that was there when its process was named is told once more. */
	if (!p || e->t_ns <= p->since_ns)
		return;
	if (!thread_add(t, e->tid, (uint32_t)(p - t->v))) {
		t->lost++;
		return;
	}
	p->living++;
	if (++p->ever != 2)
		return;
	struct as_life life = life_of(p, AS_LIFE_THREADED, e->t_ns);
	ear->fn(ear->data, &life);
}

static void new_process(struct as_life_tasks *t, const struct as_cn *e,
			const struct as_life_ear *ear)
{
	struct process *p = process_find(t, e->pid);

	if (p && e->t_ns <= p->since_ns)
		return; /* named meanwhile */
	bool ours = belongs(t, e->parent);
	struct process *parent = process_find(t, e->parent);
	if (parent && parent->exec) /* whose command line the child has */
		tell_exec(t, parent, ear);
	if (p)
		replaced(t, p, ear);
	if (!ours)
		return;
	p = process_add(t, e->pid, e->t_ns);
	if (!p) {
		t->lost++;
		return;
	}
	p->start_ns = e->t_ns + ear->boot_ns;
	struct as_life life = life_of(p, AS_LIFE_BORN, e->t_ns);
	life.parent = e->parent;
	ear->fn(ear->data, &life);
}

static void program_changed(struct as_life_tasks *t, const struct as_cn *e)
{
	struct process *p = process_find(t, e->pid);

	if (!p)
		return;
	p->doubtful = p->living > 1;
	p->living = 1;
	p->era++;
	p->exec_ns = e->t_ns;
	if (!p->exec)
		t->execs[t->nexecs++] = (uint32_t)(p - t->v);
	p->exec = true;
}

/* Does this end leave the process as it is: that of a thread which an exec has ended already? */
static bool ended_by_exec(struct process *p, struct thread *th, const struct as_life_ear *ear)
{
	if (th->tid != p->pid)
		return th->era != p->era;
	bool doubtful = p->doubtful;
	p->doubtful = false;
	return doubtful && ear->look.alive(ear->look.data, p->pid);
}

static void thread_ended(struct as_life_tasks *t, const struct as_cn *e,
			 const struct as_life_ear *ear)
{
	struct process *p = process_find(t, e->pid);
	struct thread *th = thread_find(t, e->tid);

	if (!p || !th || &t->v[th->at] != p || (th->ended && th->tid != p->pid))
		return;
	th->ended = true;
	p->ended++;
	if (p->dying || ended_by_exec(p, th, ear))
		return;
	p->status = e->code;
	p->died_ns = e->t_ns;
	if (p->living)
		p->living--;
	if (p->living)
		return;
	p->dying = true;
	t->dying[t->ndying++] = (uint32_t)(p - t->v);
}

/* A thread that became its process's first by exec never ends under its old number. */
static void forget_reused(struct as_life_tasks *t, const struct as_cn *e)
{
	struct thread *th = thread_find(t, e->tid);

	if (th && t->v[th->at].pid != e->tid && t->v[th->at].since_ns < e->t_ns)
		th->generation = 0;
}

void as_life_tasks_event(struct as_life_tasks *t, const struct as_cn *e,
			 const struct as_life_ear *ear)
{
	if (e->what == AS_CN_FORK)
		forget_reused(t, e);
	if (e->what == AS_CN_FORK && e->tid == e->pid)
		new_process(t, e, ear);
	else if (e->what == AS_CN_FORK)
		new_thread(t, e, ear);
	else if (e->what == AS_CN_EXEC)
		program_changed(t, e);
	else if (e->what == AS_CN_EXIT)
		thread_ended(t, e, ear);
}

void as_life_tasks_execs(struct as_life_tasks *t, const struct as_life_ear *ear)
{
	while (t->nexecs)
		tell_exec(t, &t->v[t->execs[0]], ear);
}

size_t as_life_tasks_dying(const struct as_life_tasks *t)
{
	return t->ndying;
}

void as_life_tasks_bury(struct as_life_tasks *t, size_t n, bool whole,
			const struct as_life_ear *ear)
{
	if (n > t->ndying)
		n = t->ndying;
	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		tell_death(&t->v[t->dying[i]], whole, ear);
		process_drop(t, &t->v[t->dying[i]]);
	}
	memmove(t->dying, t->dying + n, (t->ndying - n) * sizeof *t->dying);
	t->ndying -= n;
}

uint64_t as_life_tasks_lost(const struct as_life_tasks *t)
{
	return t->lost;
}
