#include "collect/census.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "collect/threads.h"

/* So long at the most is who spoke before heard beside the one who speaks now. */
static const int64_t farewell_most = AS_SECOND;

/* ── what is told ─────────────────────────────────────────────────────── */

struct hearing {
	struct as_census *s;
	const struct as_collect *c;
};

/* Of what the one before tells when all others were named: the end of one that was leaving. */
static bool is_farewell(const struct as_census *s, const struct as_life *life)
{
	const struct as_process *p = as_members_find(&s->members, life->pid);

	return p && p->leaving && life->kind == AS_LIFE_DIED;
}

static void hear(void *data, const struct as_life *life)
{
	const struct hearing *h = data;

	if (h->s->witness.by_old && !h->s->handing && !is_farewell(h->s, life))
		return;
	h->s->heard++;
	as_ledger_told(&h->s->ledger, &h->s->members, h->c, life, h->s->ticks > 0);
}

/* Is there one whose end only the one before can tell, and has not yet? */
static bool waits_for_leaving(const struct as_census *s)
{
	if (as_now() >= s->until_ns)
		return false;
	for (size_t i = 0; i < s->members.n; i++)
		if (s->members.v[i]->leaving && !s->members.v[i]->ended)
			return true;
	return false;
}

enum as_news as_census_drain(struct as_census *s, const struct as_collect *c)
{
	struct hearing h = {s, c};
	uint64_t before = s->heard;

	s->ledger.two = s->handing && s->witness.old.ops;
	bool any = as_witness_drain(&s->witness, hear, &h);
	if (s->witness.old.ops && !s->handing && !waits_for_leaving(s))
		as_witness_settle(&s->witness);
	return s->heard != before ? AS_NEWS : any ? AS_NEWS_OF_OTHERS : AS_NO_NEWS;
}

/* Has it begun to end? Then who now speaks may have been told of it too late to see it. */
static bool leaves(const struct as_collect *c, const struct as_process *p)
{
	char path[24], text[1024];
	struct as_proc_stat now;
	struct as_err err;
	size_t n = 0;

	if (p->ended || p->gone)
		return false;
	(void)snprintf(path, sizeof path, "%d/stat", p->pid);
	return as_read_at(c->env->proc, path, text, sizeof text, &n, &err) < 0 ||
	       (as_parse_stat(text, n, &now) && now.exiting && now.threads == 1);
}

/*
 * An end is no single moment: memory and files are given back in it. BPF is told at its
 * beginning and the connector at its end, so the one before is heard on as long as somebody
 * is in between.
 */
static void await_leaving(struct as_census *s, const struct as_collect *c)
{
	for (size_t i = 0; i < s->members.n; i++) {
		struct as_process *p = s->members.v[i];

		p->leaving = leaves(c, p);
		if (!p->leaving)
			continue;
		as_witness_forget(&s->witness, p->pid);
		s->early++;
	}
	s->until_ns = as_now() + farewell_most;
}

/* Somebody new speaks: name the members to it until there is none that it does not know. */
static int hand_over(struct as_census *s, const struct as_collect *c, bool midway,
		     struct as_err *err)
{
	bool alone = !s->witness.old.ops, more = true;
	int r = AS_OK;

	s->handing = true;
	for (size_t i = 0; i < s->members.n; i++)
		s->members.v[i]->named = false;
	for (int round = 0; more && r == AS_OK && round < 64; round++) {
		(void)as_census_drain(s, c);
		if (alone && c->root)
			r = as_members_update(&s->members, c, midway, err);
		more = as_witness_name(&s->witness, &s->members);
	}
	(void)as_census_drain(s, c);
	s->handing = false;
	s->early = s->ledger.deaths;
	if (!alone)
		await_leaving(s, c);
	(void)as_census_drain(s, c);
	if (s->witness.now.ops == &as_life_netlink) {
		as_collect_origins(c, AS_PROCESS, AS_G_CPU, AS_ATTRIBUTED,
				   "/proc, wait4; else taskstats, a tick short");
		as_collect_origins(c, AS_PROCESS, AS_G_IO, AS_MEASURED,
				   "/proc/PID/io; at its end taskstats, in KiB");
	}
	return r;
}

/* Events were lost: whoever they were about is in /proc if it still lives. */
static int find_lost(struct as_census *s, const struct as_collect *c, struct as_err *err)
{
	uint64_t lost = as_witness_lost(&s->witness);

	if (lost == s->lost_seen)
		return AS_OK;
	s->lost_seen = lost;
	s->ledger.lost = true;
	int r = as_members_update(&s->members, c, false, err);
	(void)as_witness_name(&s->witness, &s->members);
	return r;
}

int as_census_open(struct as_census *s, const struct as_collect *c, bool watch, struct as_err *err)
{
	as_members_init(&s->members, c->env);
	as_ledger_init(&s->ledger);
	s->members.ended = as_ledger_ended;
	s->members.ended_data = &s->ledger;
	if (watch && as_witness_climb(&s->witness, c))
		return hand_over(s, c, c->attached, err);
	return c->attached ? as_members_update(&s->members, c, true, err) : AS_OK;
}

/* The last one's end may be told a moment after its parent knows of it. */
static bool somebody_left_in_silence(const struct as_census *s)
{
	for (size_t i = 0; i < s->members.n; i++) {
		const struct as_process *p = s->members.v[i];

		if (!p->ended && (p->gone || (kill(p->pid, 0) < 0 && errno == ESRCH)))
			return true;
	}
	return false;
}

/* Everybody's end, and what each used to the last: 10 ms at most, and mostly none. */
static void wait_for_ends(struct as_census *s, const struct as_collect *c)
{
	struct pollfd fd = {.fd = as_witness_fd(&s->witness), .events = POLLIN};

	for (int i = 0; fd.fd >= 0 && i < 10; i++) {
		bool owed = as_witness_hurry(&s->witness) > 0;

		(void)as_census_drain(s, c);
		if (!owed && !somebody_left_in_silence(s))
			return;
		as_called(1);
		(void)poll(&fd, 1, 1);
	}
	(void)as_census_drain(s, c);
}

enum as_news as_census_last(struct as_census *s, const struct as_collect *c)
{
	enum as_news news = as_census_drain(s, c);

	s->last = true;
	wait_for_ends(s, c);
	return news;
}

/* ── who is there ─────────────────────────────────────────────────────── */

/* Look at those that were only told of. */
static void open_newborn(struct as_census *s, const struct as_collect *c)
{
	struct as_err err;

	for (size_t i = 0; i < s->members.n; i++) {
		struct as_process *p = s->members.v[i];

		if (!as_process_seen(p) && !p->gone &&
		    as_process_open(p, c, &s->members.pool, false, &err) == AS_OK)
			as_process_tell(p, c);
	}
}

/* Not everybody lived to be told of by a pass. */
static void tell_early(const struct as_census *s, const struct as_collect *c)
{
	static const enum as_field_id calls[] = {AS_F_PROC_RCHAR, AS_F_PROC_WCHAR, AS_F_PROC_SYSCR,
						 AS_F_PROC_SYSCW};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		as_collect_origin(c, calls[i], AS_ATTRIBUTED,
				  "BPF; %" PRIu64 " early ends: taskstats, up to 1023 short",
				  s->early);
	as_collect_origins(c, AS_PROCESS, AS_G_CPU, AS_ATTRIBUTED,
			   "BPF; %" PRIu64 " early ends: taskstats, a tick short", s->early);
}

/* Who is unaccounted for ended in between: that was told, or it must be looked for. */
static void make_pass(struct as_census *s, const struct as_collect *c)
{
	bool first = !s->pass.told;

	as_pass_make(&s->pass, &s->witness, &s->members, c, false);
	if (first && s->pass.told && s->early)
		tell_early(s, c);
	if (!s->pass.made || as_pass_complete(&s->pass, &s->members))
		return;
	(void)as_census_drain(s, c);
	if (!as_pass_complete(&s->pass, &s->members))
		as_pass_make(&s->pass, &s->witness, &s->members, c, true);
}

int as_census_find(struct as_census *s, const struct as_collect *c, struct as_err *err)
{
	bool climbed = !s->last && as_witness_climb(&s->witness, c);
	int r = climbed ? hand_over(s, c, false, err) : AS_OK;

	if (r < 0 || !as_witness_speaks(&s->witness))
		return r < 0 ? r : as_members_update(&s->members, c, false, err);
	(void)as_census_drain(s, c);
	r = find_lost(s, c, err);
	make_pass(s, c);
	open_newborn(s, c);
	return r;
}

/* ── reading them ─────────────────────────────────────────────────────── */

/* So many at most are read at one tick: a sample costs no more, however big the job. */
enum { READ_MAX = 80 };

static void take_turns(struct as_census *s)
{
	struct as_proc_pool *pool = &s->members.pool;

	pool->turns = s->pass.made ? 1 : (uint32_t)((s->members.n + READ_MAX - 1) / READ_MAX);
	pool->turn = pool->turns ? (uint32_t)(s->ticks % pool->turns) : 0;
}

static void follow_name(struct as_process *p, const struct as_collect *c)
{
	if (!p->renamed && p->grown_up)
		return;
	bool renamed = strcmp(p->told, p->stat.comm) != 0;

	p->renamed = false;
	if (!renamed && p->grown_up)
		return;
	int64_t age = as_clock(CLOCK_BOOTTIME) - p->stat.start * (AS_SECOND / c->env->hz);
	/* An exec may keep the name: look once more at the command line of a grown-up. */
	if (renamed || (!p->grown_up && age > AS_SECOND)) {
		p->grown_up = age > AS_SECOND;
		as_process_tell(p, c);
		as_threads_rename(p, c);
	}
}

static void depart(struct as_census *s, const struct as_collect *c, struct as_process *p)
{
	as_ledger_depart(&s->ledger, &s->members, c, p, NULL, s->ticks > 0);
}

/*
 * Whoever waited for it has its counters now. One that is not read before its turn comes would
 * be without them for so long that they would seem to be nobody's; and another child may have
 * ended since, so it is read at the next tick as well.
 */
static void read_parent(struct as_census *s, const struct as_collect *c, const struct as_process *p)
{
	struct as_process *parent = as_members_find(&s->members, p->stat.ppid);

	if (!parent || parent->gone || !as_process_seen(parent))
		return;
	if (parent->pid < p->pid && !parent->fresh)
		(void)as_process_read(parent, c, &s->members.pool, true);
	parent->bereaved = true;
}

/*
 * Its end lies between two looks. The earlier is told: until then it surely lived, and who came
 * after it did not live beside it. Of the process that we watch the end is known by itself.
 */
static void miss(struct as_census *s, const struct as_collect *c, struct as_process *p)
{
	read_parent(s, c, p);
	p->missing = true;
	if (p->pid != c->root)
		as_process_last_seen(p, c, s->looked_ns);
}

/* It is there no more. Who speaks will tell how it ended, by the next tick or never. */
static void vanish(struct as_census *s, const struct as_collect *c, struct as_process *p)
{
	bool wait = as_witness_speaks(&s->witness) && !p->missing && !s->last;

	if (!p->missing)
		miss(s, c, p);
	if (!wait && !p->ended)
		depart(s, c, p);
}

static bool still_there(struct as_census *s, const struct as_collect *c, struct as_process *p)
{
	if (as_pass_quiet(&s->pass, p) && !p->gone && !p->missing)
		return true;
	return !p->gone && !p->missing && as_process_seen(p) &&
	       (as_pass_told(&s->pass, p) || as_process_read(p, c, &s->members.pool, false));
}

/*
 * Parents (mostly those with smaller numbers) first: a child that is reaped in
 * between is then missing for one tick; the other way round it would be in the
 * sum twice, for good.
 */
void as_census_read(struct as_census *s, const struct as_collect *c)
{
	int64_t now = as_now() - c->start_ns;

	take_turns(s);
	for (size_t i = 0; i < s->members.n;) {
		struct as_process *p = s->members.v[i];
		size_t n = s->members.n;

		if (!still_there(s, c, p))
			vanish(s, c, p);
		else if (!p->ended)
			follow_name(p, c);
		i += n == s->members.n; /* one that was never seen is forgotten at its end */
	}
	s->looked_ns = now;
}

/* ── ends of our own children ─────────────────────────────────────────── */

/* One that no sample saw is read now, unless the witness will tell what it used. */
struct as_process *as_census_zombie(struct as_census *s, const struct as_collect *c, int32_t pid)
{
	struct as_process *p = as_members_find(&s->members, pid);
	bool speaks = as_witness_speaks(&s->witness);
	struct as_err err;

	if (!p && speaks) {
		(void)as_census_drain(s, c);
		p = as_members_find(&s->members, pid);
	}
	if (!p && (!speaks || as_witness_lost(&s->witness)))
		return as_members_add(&s->members, c, pid, false);
	if (p && as_process_seen(p))
		(void)as_process_read(p, c, &s->members.pool, true);
	else if (p && (s->ledger.unknown || !s->ledger.deaths))
		(void)as_process_open(p, c, &s->members.pool, false, &err);
	return p;
}

/*
 * /proc counts in ticks of 10 ms; what waiting for it tells is exact, and its own
 * unless it waited for children in turn, who left their faults with it.
 */
static void take_exact(struct as_process *p, const struct rusage *u)
{
	enum { CUT = 2000 }; /* ns: both are cut to whole microseconds */
	struct as_proc_stat *s = &p->stat;
	int64_t user = as_timeval_ns(u->ru_utime), sys = as_timeval_ns(u->ru_stime);

	if (!as_process_seen(p) || s->cminflt || s->cmajflt)
		return;
	if (user + sys + CUT < s->utime + s->stime)
		return;
	s->utime = user;
	s->stime = sys;
}

void as_census_ended(struct as_census *s, const struct as_collect *c, struct as_process *p,
		     const struct rusage *usage)
{
	take_exact(p, usage);
	if (p->ended)
		as_ledger_reaped(&s->ledger, p);
	p->gone = true;
	as_process_close(p, &s->members.pool);
	if (!as_witness_speaks(&s->witness))
		depart(s, c, p);
}

/* ── the end ──────────────────────────────────────────────────────────── */

void as_census_finish(const struct as_census *s, struct as_total *totals)
{
	int64_t ever = (int64_t)s->members.ever, lost = (int64_t)as_witness_lost(&s->witness);

	if (!as_witness_speaks(&s->witness)) {
		as_total_set(totals, AS_T_PROCS, ever, AS_ATTRIBUTED,
			     "sampled: short-lived ones may be missing");
		as_total_set(totals, AS_T_LOST, AS_NA, AS_UNAVAILABLE,
			     "nobody tells of births and deaths");
		return;
	}
	as_total_set(totals, AS_T_LOST, lost, AS_MEASURED, "%s", s->witness.now.ops->name);
	if (lost || !s->witness.from_start)
		as_total_set(totals, AS_T_PROCS, ever, AS_ATTRIBUTED, "some births were not told");
	else
		as_total_set(totals, AS_T_PROCS, ever, AS_MEASURED, "every fork seen");
}

void as_census_close(struct as_census *s)
{
	as_witness_close(&s->witness);
	as_ledger_done(&s->ledger);
	as_members_done(&s->members);
}
