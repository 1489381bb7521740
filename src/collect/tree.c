/*
 * tree -- every process of the job, and the job as their sum.
 *
 * What the kernel adds up for us makes the sums exact also for children that
 * no sample ever saw. When a process is waited for, its CPU time and faults go
 * to its parent's c-counters, and its I/O to its parent's own: so the living
 * processes with their c-counters, plus what we reaped ourselves, is all.
 * (Only children that nobody waits for, SIGCHLD being ignored, slip through;
 * the control group knows those, and so does the ledger where somebody tells
 * us of every end: collect/witness.h.)
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "collect/pass.h"
#include "collect/pss.h"
#include "collect/source.h"
#include "collect/threads.h"
#include "os/life_bpf.h"

enum counter {
	USER,
	SYSTEM,
	MINFLT,
	MAJFLT,
	READ,
	WRITE,
	CANCELLED,
	RCHAR,
	WCHAR,
	SYSCR,
	SYSCW,
	VOLUNTARY,
	FORCED,
	WAIT,
	NCOUNTERS
};

/* How each of the job's counters is shown, and what becomes of it when a process is waited for. */
#define U(member) offsetof(struct as_life_usage, member)
static const struct {
	enum as_field_id field;
	enum as_total_id total;
	bool absorbed; /* the kernel adds it to the parent's */
	size_t usage;  /* where the ledger has it            */
} counters[NCOUNTERS] = {
	[USER] = {AS_F_JOB_USER, AS_T_CPU_USER, true, U(user_ns)},
	[SYSTEM] = {AS_F_JOB_SYSTEM, AS_T_CPU_SYSTEM, true, U(sys_ns)},
	[MINFLT] = {AS_F_JOB_MINFLT, AS_T_MINFLT, true, U(minflt)},
	[MAJFLT] = {AS_F_JOB_MAJFLT, AS_T_MAJFLT, true, U(majflt)},
	[READ] = {AS_F_JOB_READ, AS_T_READ, true, U(read_bytes)},
	[WRITE] = {AS_F_JOB_WRITE, AS_T_WRITE, true, U(write_bytes)},
	[CANCELLED] = {AS_F_JOB_CANCELLED, AS_T_CANCELLED, true, U(cancelled_bytes)},
	[RCHAR] = {AS_F_JOB_RCHAR, AS_T_RCHAR, true, U(rchar)},
	[WCHAR] = {AS_F_JOB_WCHAR, AS_T_WCHAR, true, U(wchar)},
	[SYSCR] = {AS_F_JOB_SYSCR, AS_T_SYSCR, true, U(syscr)},
	[SYSCW] = {AS_F_JOB_SYSCW, AS_T_SYSCW, true, U(syscw)},
	[VOLUNTARY] = {AS_F_JOB_CTX_VOL, AS_T_CTX_VOL, false, U(voluntary)},
	[FORCED] = {AS_F_JOB_CTX_INV, AS_T_CTX_INV, false, U(forced)},
	[WAIT] = {AS_F_JOB_WAIT, AS_T_CPU_WAIT, false, U(wait_ns)},
};
#undef U

/*
 * A sum over processes can dip for one tick: a child was reaped after its
 * parent was read. What is shown never goes back; a dip that stays is time
 * that the kernel gave to nobody, and is kept: the least of a few dips in a
 * row, since on a busy machine each may have a harmless part.
 */
enum { DIPS = 3 };

struct steady {
	int64_t shown, kept, least;
	int dips;
};

/* What is true of the job at one moment. */
struct gauges {
	int64_t procs, threads, rss, vms, swap, fds;
};

struct state {
	struct as_members members;
	struct as_witness witness;
	struct as_ledger ledger;
	struct as_pass pass;
	const struct as_wire_disk *disk; /* what it sends to block devices; NULL: nobody counts */
	uint64_t heard;                  /* events that the witness told                   */
	uint64_t lost_seen;              /* events lost when /proc was last listed for it  */
	struct as_pss pss;
	struct steady steady[NCOUNTERS];
	int64_t memory_max, swap_max; /* as sampled                           */
	int64_t hwm_max, hwm_sum;     /* VmHWM: the largest; the largest sum  */
	int64_t used_max, late_max;   /* less pages of files: as sampled; at an end */
	int64_t own_hwm;              /* ours when the command was started    */
	struct as_proc_io own_io;     /* that of our own reaped children, at the start */
	bool io_denied;
	uint64_t ticks;
	bool root_reaped;
	bool last; /* the job has ended: nothing more will be told */
};

/* ── what a process, and what those we reaped, have on their counters ─── */

static void process_counters(const struct as_process *p, const struct as_collect *c,
			     int64_t v[NCOUNTERS])
{
	const struct as_proc_stat *s = &p->stat, *b = &p->base;
	int64_t reaped = c->children; /* a process attached to alone is without its children */

	v[USER] = s->utime - b->utime + reaped * (s->cutime - b->cutime);
	v[SYSTEM] = s->stime - b->stime + reaped * (s->cstime - b->cstime);
	v[MINFLT] = s->minflt - b->minflt + reaped * (s->cminflt - b->cminflt);
	v[MAJFLT] = s->majflt - b->majflt + reaped * (s->cmajflt - b->cmajflt);
	v[READ] = as_since(p->io.read_bytes, p->io_base.read_bytes);
	v[WRITE] = as_since(p->io.write_bytes, p->io_base.write_bytes);
	v[CANCELLED] = as_since(p->io.cancelled, p->io_base.cancelled);
	v[RCHAR] = as_since(p->io.rchar, p->io_base.rchar);
	v[WCHAR] = as_since(p->io.wchar, p->io_base.wchar);
	v[SYSCR] = as_since(p->io.syscr, p->io_base.syscr);
	v[SYSCW] = as_since(p->io.syscw, p->io_base.syscw);
	v[VOLUNTARY] = as_since(p->status.voluntary, p->status_base.voluntary);
	v[FORCED] = as_since(p->status.forced, p->status_base.forced);
	v[WAIT] = p->ended ? 0 : as_threads_wait(p); /* the ledger has that of the ended */
}

static int64_t ns_of(const struct timeval *t)
{
	return t->tv_sec * AS_SECOND + t->tv_usec * AS_USEC;
}

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

/*
 * The I/O of the children we reaped: the kernel adds it to our process, but
 * not to our thread, so it is the difference between the two. (Other threads
 * of ours would be in it too: the engine is the only one that does I/O.)
 */
static struct as_proc_io reaped_io(const struct as_collect *c)
{
	size_t first = 0, second = 0;
	struct as_proc_io all = read_own(c, "self/io", &first);
	struct as_proc_io own = read_own(c, "thread-self/io", &second);

	/* Our read of the first file is in the second, not in itself; its length varies. */
	if (own.rchar != AS_PROC_NA)
		own.rchar -= (int64_t)first;
	if (own.syscr != AS_PROC_NA)
		own.syscr--;
	return (struct as_proc_io){
		.rchar = as_since(all.rchar, own.rchar),
		.wchar = as_since(all.wchar, own.wchar),
		.syscr = as_since(all.syscr, own.syscr),
		.syscw = as_since(all.syscw, own.syscw),
		.read_bytes = as_since(all.read_bytes, own.read_bytes),
		.write_bytes = as_since(all.write_bytes, own.write_bytes),
		.cancelled = as_since(all.cancelled, own.cancelled),
	};
}

static void reaped_counters(const struct state *s, const struct as_collect *c, int64_t v[NCOUNTERS])
{
	struct rusage u = {0};

	memset(v, 0, NCOUNTERS * sizeof *v);
	v[WAIT] = s->ledger.sum.wait_ns;
	if (c->attached)
		return; /* the processes that we reap are not the job's */
	as_called(1);
	(void)getrusage(RUSAGE_CHILDREN, &u);
	v[USER] = ns_of(&u.ru_utime);
	v[SYSTEM] = ns_of(&u.ru_stime);
	v[MINFLT] = u.ru_minflt;
	v[MAJFLT] = u.ru_majflt;
	v[VOLUNTARY] = u.ru_nvcsw;
	v[FORCED] = u.ru_nivcsw;
	if (!as_wants_group(c->want, AS_G_IO))
		return;
	struct as_proc_io io = reaped_io(c);
	v[READ] = as_since(io.read_bytes, s->own_io.read_bytes);
	v[WRITE] = as_since(io.write_bytes, s->own_io.write_bytes);
	v[CANCELLED] = as_since(io.cancelled, s->own_io.cancelled);
	v[RCHAR] = as_since(io.rchar, s->own_io.rchar);
	v[WCHAR] = as_since(io.wchar, s->own_io.wchar);
	v[SYSCR] = as_since(io.syscr, s->own_io.syscr);
	v[SYSCW] = as_since(io.syscw, s->own_io.syscw);
	/* Before it was the command, its first process wrote itself into its groups. */
	if (s->root_reaped && v[SYSCW] != AS_NA && v[WCHAR] != AS_NA) {
		v[SYSCW] -= c->cgroup->joins;
		v[WCHAR] -= c->cgroup->joins;
	}
}

/* Does the kernel add it to the parent's own, not apart from it? */
static bool mixed(enum counter k)
{
	return as_fields[counters[k].field].group == AS_G_IO;
}

/* What the ledger has of one: of all that ended and, by themselves, of the living. */
static void ledger_counters(const struct state *s, int64_t sum[NCOUNTERS])
{
	struct as_life_usage all = s->ledger.sum;

	for (size_t i = 0; i < s->members.n; i++)
		if (!s->members.v[i]->ended) {
			struct as_life_usage u = as_process_usage(s->members.v[i]);

			as_usage_add(&all, &u);
		}
	for (size_t k = 0; k < NCOUNTERS; k++)
		memcpy(&sum[k], (const char *)&all + counters[k].usage, sizeof sum[k]);
}

/* Is what it used in nobody else's counters? When it was waited for, the kernel has added it. */
static bool counts(const struct as_process *p)
{
	return as_process_seen(p) && !p->gone && !p->missing;
}

/* The job's counters: those we reaped and every living member. */
static void sum_counters(const struct state *s, const struct as_collect *c, int64_t sum[NCOUNTERS])
{
	int64_t v[NCOUNTERS];

	reaped_counters(s, c, sum);
	for (size_t i = 0; i < s->members.n; i++) {
		if (!counts(s->members.v[i]))
			continue;
		process_counters(s->members.v[i], c, v);
		for (size_t k = 0; k < NCOUNTERS; k++)
			sum[k] = sum[k] == AS_NA || (v[k] == AS_NA && counters[k].absorbed)
					 ? AS_NA
					 : sum[k] + (v[k] == AS_NA ? 0 : v[k]);
	}
}

/*
 * Those that nobody waited for only the ledger has. Of CPU time it is the sum
 * that tells how much is missing: user and system time of short processes are
 * split by few ticks or none.
 */
static void add_unreaped(const struct state *s, int64_t sum[NCOUNTERS])
{
	int64_t all[NCOUNTERS];

	ledger_counters(s, all);
	int64_t cpu = all[USER] + all[SYSTEM], more = cpu - sum[USER] - sum[SYSTEM];
	if (more > 0) {
		int64_t user = (int64_t)((double)more * ((double)all[USER] / (double)cpu));

		sum[USER] += user;
		sum[SYSTEM] += more - user;
	}
	bool io = s->last && !s->members.n && !s->ledger.unknown;
	for (size_t k = MINFLT; k < NCOUNTERS; k++)
		if ((io || !mixed((enum counter)k)) && sum[k] != AS_NA && all[k] > sum[k])
			sum[k] = all[k];
}

static int64_t steady_show(struct steady *t, int64_t sum, bool absorbed)
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

/* ── births and deaths ────────────────────────────────────────────────── */

struct hearing {
	struct state *s;
	const struct as_collect *c;
};

static void hear(void *data, const struct as_life *life)
{
	const struct hearing *h = data;

	h->s->heard++;
	as_ledger_told(&h->s->ledger, &h->s->members, h->c, life, h->s->ticks > 0);
}

static enum as_news drain(struct state *s, const struct as_collect *c)
{
	struct hearing h = {s, c};
	uint64_t before = s->heard;

	s->ledger.two = s->witness.old.ops != NULL;
	bool any = as_witness_drain(&s->witness, hear, &h);
	return s->heard != before ? AS_NEWS : any ? AS_NEWS_OF_OTHERS : AS_NO_NEWS;
}

/* Somebody new speaks: name the members to it until there is none that it does not know. */
static int hand_over(struct state *s, const struct as_collect *c, bool midway, struct as_err *err)
{
	bool alone = !s->witness.old.ops, more = true;
	int r = AS_OK;

	for (size_t i = 0; i < s->members.n; i++)
		s->members.v[i]->named = false;
	for (int round = 0; more && r == AS_OK && round < 64; round++) {
		(void)drain(s, c);
		if (alone && c->root)
			r = as_members_update(&s->members, c, midway, err);
		more = as_witness_name(&s->witness, &s->members);
	}
	(void)drain(s, c);
	as_witness_settle(&s->witness);
	return r;
}

/* Events were lost: whoever they were about is in /proc if it still lives. */
static int find_lost(struct state *s, const struct as_collect *c, struct as_err *err)
{
	uint64_t lost = as_witness_lost(&s->witness);

	if (lost == s->lost_seen)
		return AS_OK;
	s->lost_seen = lost;
	int r = as_members_update(&s->members, c, false, err);
	(void)as_witness_name(&s->witness, &s->members);
	return r;
}

static void depart(struct state *s, const struct as_collect *c, struct as_process *p)
{
	as_ledger_depart(&s->ledger, &s->members, c, p, NULL, s->ticks > 0);
}

/* Look at those that were only told of. */
static void open_newborn(struct state *s, const struct as_collect *c)
{
	struct as_err err;

	for (size_t i = 0; i < s->members.n; i++) {
		struct as_process *p = s->members.v[i];

		if (!as_process_seen(p) && !p->gone &&
		    as_process_open(p, c, &s->members.pool, false, &err) == AS_OK)
			as_process_tell(p, c);
	}
}

static int find_members(struct state *s, const struct as_collect *c, struct as_err *err)
{
	int r = as_witness_climb(&s->witness, c) ? hand_over(s, c, false, err) : AS_OK;

	if (r < 0 || !as_witness_speaks(&s->witness))
		return r < 0 ? r : as_members_update(&s->members, c, false, err);
	(void)drain(s, c);
	r = find_lost(s, c, err);
	as_pass_make(&s->pass, &s->witness, &s->members, c);
	open_newborn(s, c);
	return r;
}

/* ── one tick ─────────────────────────────────────────────────────────── */

static void follow_name(struct as_process *p, const struct as_collect *c)
{
	int64_t age = as_clock(CLOCK_BOOTTIME) - p->stat.start * (AS_SECOND / c->env->hz);
	bool renamed = strcmp(p->told, p->stat.comm) != 0;

	/* An exec may keep the name: look once more at the command line of a grown-up. */
	if (renamed || (!p->grown_up && age > AS_SECOND)) {
		p->grown_up = age > AS_SECOND;
		as_process_tell(p, c);
		as_threads_rename(p, c);
	}
}

/* It is there no more. Who speaks will tell how it ended, by the next tick or never. */
static void vanish(struct state *s, const struct as_collect *c, struct as_process *p)
{
	bool wait = as_witness_speaks(&s->witness) && !p->missing && !s->last;

	p->missing = true;
	if (!wait && !p->ended)
		depart(s, c, p);
}

/*
 * Parents (mostly those with smaller numbers) first: a child that is reaped in
 * between is then missing for one tick; the other way round it would be in the
 * sum twice, for good.
 */
static void read_members(struct state *s, const struct as_collect *c)
{
	for (size_t i = 0; i < s->members.n;) {
		struct as_process *p = s->members.v[i];
		size_t n = s->members.n;

		if (p->gone || p->missing || !as_process_seen(p) ||
		    (!as_pass_told(&s->pass, p) &&
		     !as_process_read(p, c, &s->members.pool, false))) {
			vanish(s, c, p);
		} else if (!p->ended) {
			follow_name(p, c);
			s->io_denied |= p->io_denied;
		}
		i += n == s->members.n; /* one that was never seen is forgotten at its end */
	}
}

static void add_known(int64_t *sum, int64_t v)
{
	if (v != AS_PROC_NA)
		*sum += v;
}

/* Its largest resident size while we looked: a peak from before the run is not the run's. */
static int64_t peak_of(const struct as_process *p)
{
	return p->status.hwm > p->status_base.hwm ? p->status.hwm : p->status.rss;
}

/* It may have had fewer pages of files at its peak than it was ever seen with, hardly more. */
static void note_peak(struct state *s, struct as_process *p)
{
	int64_t peak = peak_of(p);

	if (p->status.file > p->file_max)
		p->file_max = p->status.file;
	if (peak > s->hwm_max)
		s->hwm_max = peak;
	if (peak > s->used_max + p->file_max)
		s->used_max = peak - p->file_max;
}

static struct gauges sum_gauges(struct state *s, const struct as_collect *c)
{
	struct gauges g = {0};
	int64_t hwm_sum = 0;

	for (size_t i = 0; i < s->members.n; i++) {
		struct as_process *p = s->members.v[i];

		if (!counts(p) || p->stat.state == 'Z')
			continue;
		g.procs++;
		g.threads += p->stat.threads;
		g.rss += p->stat.rss * c->env->page;
		g.vms += p->stat.vsize;
		add_known(&g.swap, p->status.swap);
		add_known(&g.fds, p->fds);
		add_known(&hwm_sum, peak_of(p));
		note_peak(s, p);
	}
	if (hwm_sum > s->hwm_sum)
		s->hwm_sum = hwm_sum;
	return g;
}

/* What block devices got from the job: counted by BPF, from when it was loaded. */
static void disk_cells(struct state *s, const struct as_collect *c, int64_t *row)
{
	if (!as_wants_group(c->want, AS_G_IO) || s->witness.now.ops != &as_life_bpf)
		return;
	if (!s->disk) {
		s->disk = as_life_bpf_disk(s->witness.now.source);
		for (enum as_field_id f = AS_F_JOB_DISK_READ; s->disk && f <= AS_F_JOB_DISK_WRITES;
		     f++)
			as_collect_origin(c, f, AS_MEASURED, "block layer, by BPF, from %.2f s on",
					  as_seconds(as_now() - c->start_ns));
	}
	if (!s->disk)
		return;
	as_put(c, row, AS_F_JOB_DISK_READ, (int64_t)s->disk->read_bytes);
	as_put(c, row, AS_F_JOB_DISK_WRITE, (int64_t)s->disk->write_bytes);
	as_put(c, row, AS_F_JOB_DISK_READS, (int64_t)s->disk->reads);
	as_put(c, row, AS_F_JOB_DISK_WRITES, (int64_t)s->disk->writes);
}

static void job_row(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	struct gauges g = sum_gauges(s, c);
	int64_t sum[NCOUNTERS], *row = as_frame_row(frame, AS_JOB, 0);

	sum_counters(s, c, sum);
	add_unreaped(s, sum);
	for (size_t k = 0; k < NCOUNTERS; k++)
		if (sum[k] != AS_NA)
			as_put(c, row, counters[k].field,
			       steady_show(&s->steady[k], sum[k], counters[k].absorbed));
	as_put(c, row, AS_F_JOB_CPU, s->steady[USER].shown + s->steady[SYSTEM].shown);
	disk_cells(s, c, row);
	if (!g.procs)
		return; /* before it starts and after it ended nothing is large or small */
	as_put(c, row, AS_F_JOB_PROCS, g.procs);
	as_put(c, row, AS_F_JOB_THREADS, g.threads);
	as_put(c, row, AS_F_JOB_RSS, g.rss);
	as_put(c, row, AS_F_JOB_VMS, g.vms);
	as_put(c, row, AS_F_JOB_MEMORY, s->pss.need);
	as_put(c, row, AS_F_JOB_SWAP, g.swap);
	as_put(c, row, AS_F_JOB_FDS, g.fds);
	as_put(c, row, AS_F_JOB_PSS, s->pss.pss);
	as_put(c, row, AS_F_JOB_USS, s->pss.uss);
	as_put(c, row, AS_F_JOB_PSS_AGE, s->pss.age);
	if (s->pss.need > s->memory_max)
		s->memory_max = s->pss.need;
	if (g.swap > s->swap_max)
		s->swap_max = g.swap;
}

/* Is anything asked for that only processes can tell? */
static bool anything(const struct as_want *w)
{
	return as_wants_group(w, AS_G_CPU) || as_wants_group(w, AS_G_MEMORY) ||
	       as_wants_group(w, AS_G_IO) || as_wants_group(w, AS_G_SCHED) ||
	       as_wants_group(w, AS_G_FAULTS) || as_wants_group(w, AS_G_FDS) ||
	       as_wants_group(w, AS_G_THREADS) || as_wants_group(w, AS_G_NET) ||
	       as_wants_group(w, AS_G_PSS);
}

/* So many at most are read at one tick: a sample costs no more, however big the job. */
enum { READ_MAX = 80 };

static void take_turns(struct state *s)
{
	struct as_proc_pool *pool = &s->members.pool;

	pool->turns = s->pass.made ? 1 : (uint32_t)((s->members.n + READ_MAX - 1) / READ_MAX);
	pool->turn = pool->turns ? (uint32_t)(s->ticks % pool->turns) : 0;
}

/* Its rows; those of its threads once more when it ended. False: it is to be forgotten. */
static bool member_rows(struct as_process *p, const struct as_collect *c, struct as_frame *frame)
{
	if (!p->ended && p->fresh && counts(p))
		as_process_rows(p, c, frame);
	if (p->ended && !p->shown && as_wants_group(c->want, AS_G_THREADS))
		as_threads_rows(p, c, frame);
	p->shown = p->ended;
	return !p->ended || counts(p);
}

static int tree_sample(void *st, const struct as_collect *c, struct as_frame *frame,
		       struct as_err *err)
{
	struct state *s = st;

	if (!anything(c->want))
		return AS_OK;
	int r = c->root ? find_members(s, c, err) : AS_OK;
	s->ticks++;
	take_turns(s);
	read_members(s, c);
	as_pss_sample(&s->pss, c, &s->members);
	job_row(s, c, frame);
	for (size_t i = s->members.n; i-- > 0;)
		if (!member_rows(s->members.v[i], c, frame))
			as_members_drop(&s->members, i);
	as_ledger_rows(&s->ledger, c, frame, s->ticks, s->last);
	return r;
}

/* ── its life ─────────────────────────────────────────────────────────── */

/* Also when nothing of it is shown: a time limit must find every process of the job. */
static bool tree_wanted(const struct as_want *w)
{
	(void)w;
	return true;
}

static void tell_origins(const struct as_collect *c)
{
	static const struct {
		enum as_group group;
		const char *source;
	} sources[] = {
		{AS_G_CPU, "/proc/PID/stat"},
		{AS_G_FAULTS, "/proc/PID/stat"},
		{AS_G_MEMORY, "/proc/PID/status"},
		{AS_G_IO, "/proc/PID/io"},
		{AS_G_SCHED, "/proc/PID/status, schedstat"},
		{AS_G_FDS, "/proc/PID/fd"},
		{AS_G_THREADS, "/proc/PID/task/TID/schedstat"},
	};

	for (size_t i = 0; i < AS_LEN(sources); i++)
		for (enum as_scope scope = AS_JOB; scope <= AS_THREAD; scope++)
			as_collect_origins(c, scope, sources[i].group, AS_MEASURED, "%s",
					   sources[i].source);
	for (enum as_field_id f = AS_F_JOB_DISK_READ; f <= AS_F_JOB_DISK_WRITES; f++)
		as_collect_origin(c, f, AS_UNAVAILABLE, "needs BPF");
	/* Pages that forked processes still share are known from readings now and then. */
	as_collect_origin(c, AS_F_JOB_MEMORY, AS_ATTRIBUTED, "/proc/PID/{status,smaps_rollup}");
}

static int tree_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;
	struct rusage own = {0};

	as_members_init(&s->members);
	*c->members = &s->members;
	as_ledger_init(&s->ledger);
	as_called(1);
	as_pss_open(&s->pss, c);
	(void)getrusage(RUSAGE_SELF, &own);
	s->own_hwm = own.ru_maxrss * 1024;
	if (!c->attached && as_wants_group(c->want, AS_G_IO))
		s->own_io = reaped_io(c);
	tell_origins(c);
	if (anything(c->want) && as_witness_climb(&s->witness, c))
		return hand_over(s, c, c->attached, err);
	return c->attached ? as_members_update(&s->members, c, true, err) : AS_OK;
}

static int tree_fd(const void *st)
{
	return as_witness_fd(&((const struct state *)st)->witness);
}

/* The last one's end may be told a moment after its parent knows of it. */
static bool somebody_left_in_silence(const struct state *s)
{
	for (size_t i = 0; i < s->members.n; i++) {
		const struct as_process *p = s->members.v[i];

		if (!p->ended && (p->gone || (kill(p->pid, 0) < 0 && errno == ESRCH)))
			return true;
	}
	return false;
}

/* Everybody's end, and what each used to the last: 10 ms at most, and mostly none. */
static void wait_for_ends(struct state *s, const struct as_collect *c)
{
	struct pollfd fd = {.fd = as_witness_fd(&s->witness), .events = POLLIN};

	for (int i = 0; fd.fd >= 0 && i < 10; i++) {
		bool owed = as_witness_hurry(&s->witness) > 0;

		(void)drain(s, c);
		if (!owed && !somebody_left_in_silence(s))
			return;
		as_called(1);
		(void)poll(&fd, 1, 1);
	}
	(void)drain(s, c);
}

static enum as_news tree_ready(void *st, const struct as_collect *c, bool last)
{
	struct state *s = st;

	enum as_news news = drain(s, c);
	s->last = last;
	if (last)
		wait_for_ends(s, c);
	return news;
}

/*
 * The member that it is, or NULL when all is said of it already. One that no
 * sample saw is read now, unless the witness will tell what it used.
 */
static struct as_process *look_at_zombie(struct state *s, const struct as_collect *c, int32_t pid)
{
	struct as_process *p = as_members_find(&s->members, pid);
	bool speaks = as_witness_speaks(&s->witness);
	struct as_err err;

	if (!p && speaks) {
		(void)drain(s, c);
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

/* The largest of a process and of its children, whoever they were; its files are the best guess. */
static void note_late(struct state *s, int64_t hwm, int64_t file)
{
	if (hwm > s->hwm_max)
		s->hwm_max = hwm;
	if (hwm - file > s->late_max)
		s->late_max = hwm - file;
}

/* A zombie of ours: its own counters are final now. */
static void tree_exited(void *st, const struct as_collect *c, const struct as_exit *e)
{
	struct state *s = st;
	int64_t hwm = e->usage.ru_maxrss * 1024;

	if (c->attached || !anything(c->want))
		return;
	struct as_process *p = look_at_zombie(s, c, e->pid);
	s->members.root_ended |= e->pid == c->root;
	/* Until it called exec, a child had our own pages: a peak up to ours says nothing. */
	if (hwm > s->own_hwm)
		note_late(s, hwm, p ? p->file_max : 0);
	s->root_reaped |= e->pid == c->root;
	if (!p)
		return;
	p->gone = true;
	p->ended_by = e->status;
	p->died_ns = e->t_ns;
	as_process_close(p, &s->members.pool);
	if (!as_witness_speaks(&s->witness))
		depart(s, c, p);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void finish_memory(const struct state *s, struct as_total *totals)
{
	int64_t one = larger(s->hwm_max, s->ledger.hwm_max);
	int64_t peak =
		larger(larger(s->memory_max, s->used_max), larger(s->late_max, s->ledger.hwm_max));

	if (one)
		as_total_set(totals, AS_T_MEM_HWM, one, AS_MEASURED, "VmHWM, ru_maxrss");
	else
		as_total_set(totals, AS_T_MEM_HWM, AS_NA, AS_UNAVAILABLE,
			     "over before it could be read");
	if (s->used_max)
		as_total_set(totals, AS_T_MEM_ONE, s->used_max, AS_MEASURED, "VmHWM less RssFile");
	else
		as_total_set(totals, AS_T_MEM_ONE, AS_NA, AS_UNAVAILABLE,
			     "over before it could be read");
	if (peak)
		as_total_set(totals, AS_T_MEM_PEAK, peak, AS_ATTRIBUTED,
			     "/proc/PID/{status,smaps_rollup}");
	/* Between two samples nothing is bounded; but every peak so far is in some VmHWM. */
	if (s->hwm_sum)
		as_total_set(totals, AS_T_MEM_UPPER, s->hwm_sum > peak ? s->hwm_sum : peak,
			     AS_ATTRIBUTED, "sum of VmHWM, as sampled");
	as_total_set(totals, AS_T_SWAP_PEAK, s->swap_max, AS_MEASURED, "/proc/PID/status");
}

/* Is more known than the kernel has added up at the end? Then nobody waited for some children. */
static bool more(int64_t known, int64_t sum, enum counter k)
{
	int64_t slack = as_fields[counters[k].field].unit == AS_NS ? 50 * AS_MSEC : 0;

	return known - sum > sum / 50 + slack;
}

/* Was every end told, with what it used? */
static bool complete(const struct state *s)
{
	return s->witness.from_start && !as_witness_lost(&s->witness) && !s->ledger.unknown;
}

static void finish_counter(const struct state *s, const struct as_collect *c, enum counter k,
			   int64_t sum, int64_t all, struct as_total *totals)
{
	enum as_total_id id = counters[k].total;
	int64_t shown = s->steady[k].shown;

	if (sum == AS_NA)
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "permission denied");
	else if (c->attached && !s->members.n && !s->ticks)
		as_total_set(totals, id, AS_NA, AS_UNAVAILABLE, "over before it could be read");
	else if (c->attached)
		as_total_set(totals, id, shown > sum ? shown : sum, AS_MEASURED, "/proc");
	else if (more(all, sum, k) && complete(s))
		as_total_set(totals, id, all, AS_MEASURED, "told at every end by the %s",
			     s->witness.now.ops->name);
	else if (counters[k].absorbed && more(shown, sum, k))
		as_total_set(totals, id, shown, AS_ATTRIBUTED,
			     "sampled: nobody waited for some children");
	else
		as_total_set(totals, id, sum, AS_MEASURED, "wait4 and /proc");
}

/* User and system time together, as well known as the lesser of the two. */
static void finish_cpu(struct as_total *totals)
{
	const struct as_total *user = &totals[AS_T_CPU_USER], *system = &totals[AS_T_CPU_SYSTEM];
	const struct as_total *lesser = user->how == AS_MEASURED ? system : user;
	bool known = user->value != AS_NA && system->value != AS_NA;

	totals[AS_T_CPU] = *lesser;
	totals[AS_T_CPU].value = known ? user->value + system->value : AS_NA;
}

static void finish_lives(const struct state *s, struct as_total *totals)
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

static void tree_finish(void *st, const struct as_collect *c, struct as_total *totals)
{
	struct state *s = st;
	int64_t sum[NCOUNTERS], all[NCOUNTERS];

	if (!anything(c->want))
		return;
	if (c->attached) /* what we are the parent of was read at its end */
		read_members(s, c);
	sum_counters(s, c, sum);
	memcpy(all, sum, sizeof all);
	add_unreaped(s, all);
	for (size_t k = 0; k < NCOUNTERS; k++)
		if (as_wants_group(c->want, as_fields[counters[k].field].group))
			finish_counter(s, c, (enum counter)k, sum[k], all[k], totals);
	if (as_wants_group(c->want, AS_G_CPU))
		finish_cpu(totals);
	finish_lives(s, totals);
	if (as_wants_group(c->want, AS_G_MEMORY))
		finish_memory(s, totals);
}

static int tree_signal(void *st, const struct as_collect *c, int sig)
{
	struct as_members *m = &((struct state *)st)->members;
	struct as_err err;
	int n = 0;

	(void)find_members(st, c, &err);
	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i]->gone && !m->v[i]->ended && m->v[i]->stat.state != 'Z')
			n += kill(m->v[i]->pid, sig) == 0 || errno != ESRCH;
	return n;
}

static void tree_close(void *st)
{
	struct state *s = st;

	as_pass_close(&s->pass);
	as_witness_close(&s->witness);
	as_ledger_done(&s->ledger);
	as_pss_done(&s->pss);
	as_members_done(&s->members);
}

const struct as_collector as_collect_tree = {
	.name = "tree",
	.about = "the processes of the job and their threads",
	.reads = "/proc/PID/{stat,status,smaps_rollup,io,schedstat,fd,task}",
	.state_size = sizeof(struct state),
	.wanted = tree_wanted,
	.open = tree_open,
	.sample = tree_sample,
	.fd = tree_fd,
	.ready = tree_ready,
	.exited = tree_exited,
	.finish = tree_finish,
	.signal = tree_signal,
	.close = tree_close,
};
