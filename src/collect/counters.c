#include "collect/counters.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "collect/source.h"
#include "os/jobclock.h"

/* How each is shown, and what becomes of it when a process is waited for. */
#define U(member) offsetof(struct as_life_usage, member)
static const struct {
	enum as_field_id field;
	enum as_total_id total;
	bool absorbed; /* the kernel adds it to the parent's */
	size_t usage;  /* where the ledger has it            */
} counters[AS_NCOUNTERS] = {
	[AS_K_USER] = {AS_F_JOB_USER, AS_T_CPU_USER, true, U(user_ns)},
	[AS_K_SYSTEM] = {AS_F_JOB_SYSTEM, AS_T_CPU_SYSTEM, true, U(sys_ns)},
	[AS_K_MINFLT] = {AS_F_JOB_MINFLT, AS_T_MINFLT, true, U(minflt)},
	[AS_K_MAJFLT] = {AS_F_JOB_MAJFLT, AS_T_MAJFLT, true, U(majflt)},
	[AS_K_READ] = {AS_F_JOB_READ, AS_T_READ, true, U(read_bytes)},
	[AS_K_WRITE] = {AS_F_JOB_WRITE, AS_T_WRITE, true, U(write_bytes)},
	[AS_K_CANCELLED] = {AS_F_JOB_CANCELLED, AS_T_CANCELLED, true, U(cancelled_bytes)},
	[AS_K_RCHAR] = {AS_F_JOB_RCHAR, AS_T_RCHAR, true, U(rchar)},
	[AS_K_WCHAR] = {AS_F_JOB_WCHAR, AS_T_WCHAR, true, U(wchar)},
	[AS_K_SYSCR] = {AS_F_JOB_SYSCR, AS_T_SYSCR, true, U(syscr)},
	[AS_K_SYSCW] = {AS_F_JOB_SYSCW, AS_T_SYSCW, true, U(syscw)},
	[AS_K_VOLUNTARY] = {AS_F_JOB_CTX_VOL, AS_T_CTX_VOL, false, U(voluntary)},
	[AS_K_FORCED] = {AS_F_JOB_CTX_INV, AS_T_CTX_INV, false, U(forced)},
	[AS_K_WAIT] = {AS_F_JOB_WAIT, AS_T_CPU_WAIT, false, U(wait_ns)},
};
#undef U

int64_t as_counter_used(const struct as_life_usage *u, enum as_counter_id k)
{
	int64_t v;

	memcpy(&v, (const char *)u + counters[k].usage, sizeof v);
	return v;
}

/* ── those we reaped ourselves ────────────────────────────────────────── */

static struct as_proc_io read_own(const struct as_collect *c, const char *path, size_t *ret_len)
{
	struct as_proc_io io;
	struct as_err err;
	char text[512];

	*ret_len = 0;
	if (as_read_at(c->env->proc, path, text, sizeof text, ret_len, &err) < 0)
		*ret_len = 0;
	as_parse_io(text, *ret_len, &io);
	return io;
}

static struct as_proc_io less(struct as_proc_io a, struct as_proc_io b)
{
	return (struct as_proc_io){
		.rchar = as_since(a.rchar, b.rchar),
		.wchar = as_since(a.wchar, b.wchar),
		.syscr = as_since(a.syscr, b.syscr),
		.syscw = as_since(a.syscw, b.syscw),
		.read_bytes = as_since(a.read_bytes, b.read_bytes),
		.write_bytes = as_since(a.write_bytes, b.write_bytes),
		.cancelled = as_since(a.cancelled, b.cancelled),
	};
}

/* What we read after "self/io" was read is not in it, but in what our thread says of itself. */
static void take_off(struct as_proc_io *own, size_t bytes)
{
	if (own->rchar != AS_PROC_NA)
		own->rchar -= (int64_t)bytes;
	if (own->syscr != AS_PROC_NA)
		own->syscr--;
}

/*
 * Our process, without the thread that helps us. That one reads whenever it
 * likes: if it did so between our two looks at it, we look again.
 */
static struct as_proc_io without_helper(const struct as_collect *c, size_t *ret_len,
					size_t *ret_after)
{
	enum { TRIES = 4 };
	struct as_proc_io all, before, after;
	size_t ignored = 0;
	char path[48];

	(void)snprintf(path, sizeof path, "self/task/%d/io", (int)c->helper);
	for (int i = 0; i < TRIES; i++) {
		before = read_own(c, path, &ignored);
		all = read_own(c, "self/io", ret_len);
		after = read_own(c, path, ret_after);
		if (before.syscr == after.syscr && before.syscw == after.syscw)
			break;
	}
	return less(all, after);
}

/*
 * The I/O of the children we reaped: the kernel adds it to our process, but
 * not to our threads, so it is the difference between the two.
 */
static struct as_proc_io reaped_io(const struct as_collect *c)
{
	size_t first = 0, after = 0, last = 0;
	struct as_proc_io all =
		c->helper ? without_helper(c, &first, &after) : read_own(c, "self/io", &first);
	struct as_proc_io own = read_own(c, "thread-self/io", &last);

	take_off(&own, first);
	if (c->helper)
		take_off(&own, after);
	return less(all, own);
}

static void reaped_files(const struct as_counters *s, const struct as_collect *c,
			 int64_t v[AS_NCOUNTERS])
{
	struct as_proc_io io = reaped_io(c);

	v[AS_K_READ] = as_since(io.read_bytes, s->own_io.read_bytes);
	v[AS_K_WRITE] = as_since(io.write_bytes, s->own_io.write_bytes);
	v[AS_K_CANCELLED] = as_since(io.cancelled, s->own_io.cancelled);
	v[AS_K_RCHAR] = as_since(io.rchar, s->own_io.rchar);
	v[AS_K_WCHAR] = as_since(io.wchar, s->own_io.wchar);
	v[AS_K_SYSCR] = as_since(io.syscr, s->own_io.syscr);
	v[AS_K_SYSCW] = as_since(io.syscw, s->own_io.syscw);
	/* Before it was the command, its first process wrote itself into its groups. */
	if (s->root_reaped && v[AS_K_SYSCW] != AS_NA && v[AS_K_WCHAR] != AS_NA) {
		v[AS_K_SYSCW] -= c->cgroup->joins;
		v[AS_K_WCHAR] -= c->cgroup->joins;
	}
}

static void look_at_reaped(struct as_counters *s, const struct as_collect *c)
{
	struct rusage u = {0};
	int64_t *v = s->reaped;

	if (s->reaped_known || c->attached)
		return; /* the processes that we reap are not the job's */
	s->reaped_known = true;
	as_called(1);
	(void)getrusage(RUSAGE_CHILDREN, &u);
	v[AS_K_USER] = as_timeval_ns(u.ru_utime);
	v[AS_K_SYSTEM] = as_timeval_ns(u.ru_stime);
	v[AS_K_MINFLT] = u.ru_minflt;
	v[AS_K_MAJFLT] = u.ru_majflt;
	v[AS_K_VOLUNTARY] = u.ru_nvcsw;
	v[AS_K_FORCED] = u.ru_nivcsw;
	if (as_wants_group(c->want, AS_G_IO))
		reaped_files(s, c, v);
}

void as_counters_reaping(struct as_counters *s, bool root)
{
	s->root_reaped |= root;
	s->reaped_known = false;
}

void as_counters_open(struct as_counters *s, const struct as_collect *c)
{
	if (!c->attached && as_wants_group(c->want, AS_G_IO))
		s->own_io = reaped_io(c);
}

/* ── all ──────────────────────────────────────────────────────────────── */

/* Those we reaped and every living member. */
static void sum_up(struct as_counters *s, const struct as_collect *c, const struct as_members *m,
		   const struct as_ledger *g, int64_t sum[AS_NCOUNTERS])
{
	look_at_reaped(s, c);
	memcpy(sum, s->reaped, sizeof s->reaped);
	sum[AS_K_WAIT] = g->sum.wait_ns;
	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		sum[k] = sum[k] == AS_NA || (m->sums.unknown[k] && counters[k].absorbed)
				 ? AS_NA
				 : sum[k] + m->sums.of.counter[k];
}

/* Does the kernel add it to the parent's own, not apart from it? */
static bool mixed(enum as_counter_id k)
{
	return as_fields[counters[k].field].group == AS_G_IO;
}

/*
 * CPU time of those that nobody waited for: as the job's clock has it, else as
 * the ledger. It is the sum that tells how much is missing: user and system time
 * of short processes are split by few ticks or none.
 */
static void add_unreaped_cpu(const struct as_collect *c, const int64_t all[AS_NCOUNTERS],
			     int64_t sum[AS_NCOUNTERS])
{
	int64_t told = all[AS_K_USER] + all[AS_K_SYSTEM];
	int64_t clock = c->clock ? as_jobclock_read(c->clock) : AS_NA;
	int64_t more = (clock > told ? clock : told) - sum[AS_K_USER] - sum[AS_K_SYSTEM];
	double share = told > 0 ? (double)all[AS_K_USER] / (double)told : 1;

	if (more <= 0)
		return;
	int64_t user = (int64_t)((double)more * share);
	sum[AS_K_USER] += user;
	sum[AS_K_SYSTEM] += more - user;
}

/* Of what else they used only the ledger tells. */
static void add_unreaped(const struct as_counters *s, const struct as_collect *c,
			 const struct as_members *m, const struct as_ledger *g,
			 int64_t sum[AS_NCOUNTERS])
{
	int64_t all[AS_NCOUNTERS];

	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		all[k] = as_counter_used(&g->sum, (enum as_counter_id)k) + m->sums.of.own[k];
	add_unreaped_cpu(c, all, sum);
	bool io = s->last && !m->n && !g->unknown;
	for (size_t k = AS_K_MINFLT; k < AS_NCOUNTERS; k++)
		if ((io || !mixed((enum as_counter_id)k)) && sum[k] != AS_NA && all[k] > sum[k])
			sum[k] = all[k];
}

/* ── as they are shown ────────────────────────────────────────────────── */

enum { DIPS = 3 };

static int64_t steady_show(struct as_steady *t, int64_t sum, bool absorbed)
{
	int64_t v = sum + t->kept;

	if (v >= t->shown) {
		t->dips = 0;
		t->shown = v;
		return v;
	}
	if (!t->dips || t->shown - v < t->least)
		t->least = t->shown - v;
	if (++t->dips >= DIPS && absorbed) {
		t->kept += t->least;
		t->dips = 0;
	}
	return t->shown;
}

/*
 * Ticks split CPU time anew whenever they are looked at, and when a process ends. Were each
 * part kept from shrinking by itself, the two would come to more than there was.
 */
static void show_cpu(struct as_counters *s, const int64_t sum[AS_NCOUNTERS])
{
	int64_t all = steady_show(&s->cpu, sum[AS_K_USER] + sum[AS_K_SYSTEM], true);
	int64_t user = sum[AS_K_USER] + s->steady[AS_K_USER].kept;
	int64_t system = sum[AS_K_SYSTEM] + s->steady[AS_K_SYSTEM].kept;

	if (user + system != all && user + system > 0)
		user = (int64_t)((double)all * ((double)user / (double)(user + system)));
	user = user > s->user ? user : s->user;
	s->user = user < all - s->system ? user : all - s->system;
	s->system = all - s->user;
}

/* A group has an account of its own. */
static bool of_group(const struct as_collect *c)
{
	return c->cgroup && c->cgroup->own;
}

/* So many rows have one doubt: each process is looked at for it. */
enum { DOUBT_EVERY = 8 };

/* Is most of it of processes that were too short for ticks, or that nobody saw? */
static bool is_guess(const struct as_members *m, const struct as_ledger *g, int64_t all)
{
	return all != AS_NA && !as_ledger_split(g, m, all / 2);
}

/* Who looks while it runs is told, too; and when it is a guess no more. */
static void tell_split(struct as_counters *s, const struct as_collect *c, bool guessed)
{
	static const enum as_field_id parts[] = {AS_F_JOB_USER, AS_F_JOB_SYSTEM};

	for (size_t i = 0; i < AS_LEN(parts) && guessed != s->guessed; i++)
		as_collect_origin(c, parts[i], guessed ? AS_ATTRIBUTED : AS_MEASURED, "%s",
				  guessed ? AS_FEW_TICKS : "ticks of the kernel");
	s->guessed = guessed;
}

void as_counters_row(struct as_counters *s, const struct as_collect *c, const struct as_members *m,
		     const struct as_ledger *g, int64_t *row)
{
	int64_t sum[AS_NCOUNTERS];

	sum_up(s, c, m, g, sum);
	add_unreaped(s, c, m, g, sum);
	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		if (sum[k] != AS_NA)
			as_put(c, row, counters[k].field,
			       steady_show(&s->steady[k], sum[k], counters[k].absorbed));
	show_cpu(s, sum);
	as_put(c, row, AS_F_JOB_CPU, s->cpu.shown);
	as_put(c, row, AS_F_JOB_USER, s->user);
	as_put(c, row, AS_F_JOB_SYSTEM, s->system);
	if (!of_group(c) && as_wants_group(c->want, AS_G_CPU) && s->rows++ % DOUBT_EVERY == 0)
		tell_split(s, c, is_guess(m, g, s->cpu.shown));
}

/* ── the totals ───────────────────────────────────────────────────────── */

/* Is more known than the kernel has added up at the end? Then nobody waited for some children. */
static bool more(int64_t known, int64_t sum, enum as_counter_id k)
{
	int64_t slack = as_fields[counters[k].field].unit == AS_NS ? 50 * AS_MSEC : 0;

	return known - sum > sum / 50 + slack;
}

static bool is_cpu(enum as_counter_id k)
{
	return k == AS_K_USER || k == AS_K_SYSTEM;
}

/*
 * The same of one of many. User and system time are looked at together: what was split otherwise
 * while it ran is no more of either, and both parts must be of one account.
 */
static bool is_more(const int64_t known[AS_NCOUNTERS], const int64_t sum[AS_NCOUNTERS],
		    enum as_counter_id k)
{
	return is_cpu(k) ? more(known[AS_K_USER] + known[AS_K_SYSTEM],
				sum[AS_K_USER] + sum[AS_K_SYSTEM], k)
			 : more(known[k], sum[k], k);
}

struct ending {
	const struct as_collect *c;
	const char *teller; /* of every end, with what it used; NULL: nobody told of all */
	bool unread;        /* it was over before it could be read                       */
	bool clocked;       /* the job's clock knows of CPU time that nobody else does   */
	struct as_total *totals;
};

static void finish_one(const struct ending *e, enum as_counter_id k,
		       const int64_t sum[AS_NCOUNTERS], const int64_t all[AS_NCOUNTERS],
		       const int64_t shown[AS_NCOUNTERS])
{
	enum as_total_id id = counters[k].total;

	if (sum[k] == AS_NA)
		as_total_set(e->totals, id, AS_NA, AS_UNAVAILABLE, "permission denied");
	else if (e->unread)
		as_total_set(e->totals, id, AS_NA, AS_UNAVAILABLE, "over before it could be read");
	else if (e->c->attached)
		as_total_set(e->totals, id, shown[k] > sum[k] ? shown[k] : sum[k], AS_MEASURED,
			     "/proc");
	else if (is_more(all, sum, k) && e->teller)
		as_total_set(e->totals, id, all[k], AS_MEASURED, "told at every end by the %s",
			     e->teller);
	else if (e->clocked && as_fields[counters[k].field].group == AS_G_CPU)
		as_total_set(e->totals, id, all[k], AS_ATTRIBUTED,
			     "perf task clock, split as seen");
	else if (counters[k].absorbed && is_more(shown, sum, k))
		as_total_set(e->totals, id, shown[k], AS_ATTRIBUTED,
			     "sampled: nobody waited for some children");
	else
		as_total_set(e->totals, id, sum[k], AS_MEASURED, "wait4 and /proc");
}

/* As the samples showed it. */
static void take_shown(const struct as_counters *s, int64_t v[AS_NCOUNTERS])
{
	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		v[k] = s->steady[k].shown;
	v[AS_K_USER] = s->user;
	v[AS_K_SYSTEM] = s->system;
}

/* User and system time together, as well known as the lesser of the two, or by its clock. */
static void finish_cpu(struct as_total *totals, bool clocked)
{
	const struct as_total *user = &totals[AS_T_CPU_USER], *system = &totals[AS_T_CPU_SYSTEM];
	const struct as_total *lesser = user->how == AS_MEASURED ? system : user;
	bool known = user->value != AS_NA && system->value != AS_NA;

	totals[AS_T_CPU] = *lesser;
	totals[AS_T_CPU].value = known ? user->value + system->value : AS_NA;
	if (clocked && known)
		as_total_set(totals, AS_T_CPU, totals[AS_T_CPU].value, AS_MEASURED,
			     "perf task clock of the whole job");
}

/*
 * Does the clock know of CPU time beyond what short processes cost to start and to end? It
 * goes on while a processor serves interrupts or is its host's: up to 0.8 % was seen.
 */
static bool clock_knows_more(const int64_t all[AS_NCOUNTERS], const int64_t sum[AS_NCOUNTERS])
{
	int64_t waited_for = sum[AS_K_USER] + sum[AS_K_SYSTEM];

	return all[AS_K_USER] + all[AS_K_SYSTEM] - waited_for > waited_for / 50 + 2 * AS_MSEC;
}

/* Is anybody's CPU time known in whole ticks only? Then none is less than one. */
static bool in_ticks(const struct as_members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (as_process_seen(m->v[i]) && !m->v[i]->by_clock)
			return true;
	return false;
}

static void doubt_split(struct as_total *totals)
{
	static const enum as_total_id parts[] = {AS_T_CPU_USER, AS_T_CPU_SYSTEM};

	for (size_t i = 0; i < AS_LEN(parts); i++)
		as_total_set(totals, parts[i], totals[parts[i]].value, AS_ATTRIBUTED, AS_FEW_TICKS);
}

/* Lines over time are known no better than what they came to, unless a group tells them. */
static void tell_origins(const struct as_collect *c, const struct as_total *totals)
{
	static const struct {
		enum as_field_id field;
		enum as_total_id total;
	} cpu[] = {{AS_F_JOB_CPU, AS_T_CPU},
		   {AS_F_JOB_USER, AS_T_CPU_USER},
		   {AS_F_JOB_SYSTEM, AS_T_CPU_SYSTEM}};

	for (size_t i = 0; i < AS_LEN(cpu) && !of_group(c); i++)
		if (totals[cpu[i].total].how == AS_ATTRIBUTED)
			as_collect_origin(c, cpu[i].field, AS_ATTRIBUTED, "%s",
					  totals[cpu[i].total].source);
}

static void forget_cpu(struct as_total *totals)
{
	static const enum as_total_id ids[] = {AS_T_CPU, AS_T_CPU_USER, AS_T_CPU_SYSTEM};

	for (size_t i = 0; i < AS_LEN(ids); i++)
		as_total_set(totals, ids[i], AS_NA, AS_UNAVAILABLE, "less than a tick of /proc");
}

void as_counters_finish(struct as_counters *s, const struct as_collect *c,
			const struct as_members *m, const struct as_ledger *g,
			const struct as_witness *w, uint64_t ticks, struct as_total *totals)
{
	bool complete = w->from_start && !as_witness_lost(w) && !g->unknown;
	struct ending e = {.c = c,
			   .teller = complete ? w->now.ops->name : NULL,
			   .unread = c->attached && !m->n && !ticks,
			   .totals = totals};
	int64_t sum[AS_NCOUNTERS], all[AS_NCOUNTERS], shown[AS_NCOUNTERS];

	sum_up(s, c, m, g, sum);
	if (c->attached) {
		show_cpu(s, sum);
		sum[AS_K_USER] = s->user;
		sum[AS_K_SYSTEM] = s->system;
	}
	memcpy(all, sum, sizeof all);
	add_unreaped(s, c, m, g, all);
	take_shown(s, shown);
	e.clocked = c->clock && !e.teller && clock_knows_more(all, sum);
	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		if (as_wants_group(c->want, as_fields[counters[k].field].group))
			finish_one(&e, (enum as_counter_id)k, sum, all, shown);
	if (!as_wants_group(c->want, AS_G_CPU))
		return;
	finish_cpu(totals, e.clocked);
	bool guessed = ticks && is_guess(m, g, totals[AS_T_CPU].value);
	if (guessed)
		doubt_split(totals);
	if (!of_group(c))
		tell_split(s, c, guessed);
	tell_origins(c, totals);
	if (c->attached && totals[AS_T_CPU].value == 0 && in_ticks(m))
		forget_cpu(totals);
}
