/*
 * tree -- every process of the job, and the job as their sum.
 *
 * The parts do the work: census says who belongs and reads them, counters and
 * peaks add them up, pss counts once what they share. Here is what becomes of
 * them at a tick, and what is told of the whole when it is over.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "base/clock.h"
#include "collect/census.h"
#include "collect/counters.h"
#include "collect/peaks.h"
#include "collect/pss.h"
#include "collect/source.h"
#include "collect/threads.h"
#include "os/life_bpf.h"

struct state {
	struct as_census census;
	struct as_counters counters;
	struct as_peaks peaks;
	struct as_pss pss;
	const struct as_wire_disk *disk; /* what it sends to block devices; NULL: nobody counts */
	bool threaded;                   /* some process had several threads */
};

/* Is anything asked for that only processes can tell? */
static bool anything(const struct as_want *w)
{
	return as_wants_group(w, AS_G_CPU) || as_wants_group(w, AS_G_MEMORY) ||
	       as_wants_group(w, AS_G_IO) || as_wants_group(w, AS_G_SCHED) ||
	       as_wants_group(w, AS_G_FAULTS) || as_wants_group(w, AS_G_FDS) ||
	       as_wants_group(w, AS_G_THREADS) || as_wants_group(w, AS_G_NET) ||
	       as_wants_group(w, AS_G_PSS);
}

/* ── one tick ─────────────────────────────────────────────────────────── */

static void add_one(struct state *s, const struct as_collect *c, struct as_process *p)
{
	if (as_sums_update(&s->census.members.sums, p, c) && p->part.procs)
		as_peaks_note(&s->peaks, p);
}

static void add_up(struct state *s, const struct as_collect *c)
{
	const struct as_members *m = &s->census.members;

	for (size_t i = 0; i < m->n; i++)
		add_one(s, c, m->v[i]);
}

/* What block devices got from the job: counted by BPF, from when it was loaded. */
static void disk_cells(struct state *s, const struct as_collect *c, int64_t *row)
{
	const struct as_voice *teller = &s->census.witness.now;

	if (!as_wants_group(c->want, AS_G_IO) || teller->ops != &as_life_bpf)
		return;
	if (!s->disk) {
		s->disk = as_life_bpf_disk(teller->source);
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

static void gauge_cells(const struct state *s, const struct as_collect *c, int64_t *row)
{
	const union as_part *sums = &s->census.members.sums.of;

	as_put(c, row, AS_F_JOB_PROCS, sums->procs);
	as_put(c, row, AS_F_JOB_THREADS, sums->threads);
	as_put(c, row, AS_F_JOB_RSS, sums->rss);
	as_put(c, row, AS_F_JOB_VMS, sums->vms);
	as_put(c, row, AS_F_JOB_MEMORY, s->pss.need);
	as_put(c, row, AS_F_JOB_SWAP, sums->swap);
	as_put(c, row, AS_F_JOB_FDS, sums->fds_hidden ? AS_NA : sums->fds);
	as_put(c, row, AS_F_JOB_PSS, s->pss.pss);
	as_put(c, row, AS_F_JOB_USS, s->pss.uss);
	as_put(c, row, AS_F_JOB_PSS_AGE, s->pss.age);
}

static void job_row(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	const union as_part *sums = &s->census.members.sums.of;
	int64_t *row = as_frame_row(frame, AS_JOB, 0);

	as_counters_row(&s->counters, c, &s->census.members, &s->census.ledger, row);
	disk_cells(s, c, row);
	if (!sums->procs)
		return; /* before it starts and after it ended nothing is large or small */
	s->threaded |= sums->threads > sums->procs;
	gauge_cells(s, c, row);
	as_peaks_job(&s->peaks, sums->peak, s->pss.need, sums->swap);
}

/* Its rows; those of its threads once more when it ended. False: it is to be forgotten. */
static bool member_rows(struct as_process *p, const struct as_collect *c, struct as_frame *frame)
{
	bool counts = as_sums_counts(p);

	if (!p->ended && p->fresh && counts)
		as_process_rows(p, c, frame);
	if (p->ended && !p->shown && as_wants_group(c->want, AS_G_THREADS))
		as_threads_rows(p, c, frame);
	p->shown = p->ended;
	return !p->ended || counts;
}

/* Of thousands no cache has them all: what is made of one is made while it is at hand. */
static void members_rows(struct state *s, const struct as_collect *c, struct as_frame *frame)
{
	enum { AHEAD = 2 };
	struct as_members *m = &s->census.members;

	for (size_t i = m->n; i-- > 0;) {
		if (i >= AHEAD && m->v[i - AHEAD]->changed)
			as_fetch(m->v[i - AHEAD], offsetof(struct as_process, told_ended));
		add_one(s, c, m->v[i]);
		if (!member_rows(m->v[i], c, frame))
			as_members_drop(m, i);
	}
}

static int tree_sample(void *st, const struct as_collect *c, struct as_frame *frame,
		       struct as_err *err)
{
	struct state *s = st;
	const struct as_members *m = &s->census.members;

	if (!anything(c->want))
		return AS_OK;
	int r = c->root ? as_census_find(&s->census, c, err) : AS_OK;
	s->census.ticks++;
	as_census_read(&s->census, c);
	as_pss_sample(&s->pss, c, m);
	(void)as_frame_row(frame, AS_JOB, 0); /* before those that it is the sum of */
	members_rows(s, c, frame);
	job_row(s, c, frame);
	as_ledger_rows(&s->census.ledger, c, frame, s->census.ticks, s->census.last);
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
	as_collect_origins(c, AS_PROCESS, AS_G_CPU, AS_MEASURED,
			   "/proc/PID/{stat,task/TID/schedstat}");
	/* Whose threads were too short to be seen is not known: see collect/own.h. */
	as_collect_origins(c, AS_PROCESS, AS_G_IO, AS_ATTRIBUTED, "/proc/PID/{io,task/PID/io}");
	for (enum as_field_id f = AS_F_JOB_DISK_READ; f <= AS_F_JOB_DISK_WRITES; f++)
		as_collect_origin(c, f, AS_UNAVAILABLE, "needs BPF");
	/* Pages that forked processes still share are known from readings now and then. */
	as_collect_origin(c, AS_F_JOB_MEMORY, AS_ATTRIBUTED, "/proc/PID/{status,smaps_rollup}");
}

static int tree_open(void *st, const struct as_collect *c, struct as_err *err)
{
	struct state *s = st;

	*c->members = &s->census.members;
	as_pss_open(&s->pss, c);
	as_counters_open(&s->counters, c);
	tell_origins(c);
	return as_census_open(&s->census, c, anything(c->want), err);
}

static int tree_fd(const void *st)
{
	return as_witness_fd(&((const struct state *)st)->census.witness);
}

static enum as_news tree_ready(void *st, const struct as_collect *c, bool last)
{
	struct state *s = st;

	s->counters.last |= last;
	return last ? as_census_last(&s->census, c) : as_census_drain(&s->census, c);
}

/* A zombie of ours: its own counters are final now. */
static void tree_exited(void *st, const struct as_collect *c, const struct as_exit *e)
{
	struct state *s = st;

	s->census.members.root_ended |= e->pid == c->root;
	if (c->attached || !anything(c->want))
		return;
	struct as_process *p = as_census_zombie(&s->census, c, e->pid);
	as_counters_reaping(&s->counters, e->pid == c->root);
	as_peaks_late(&s->peaks, c, e->usage.ru_maxrss * 1024, p);
	if (!p)
		return;
	p->ended_by = e->status;
	p->died_ns = e->t_ns;
	as_census_ended(&s->census, c, p, &e->usage);
}

/* Only to who waits for a process the kernel tells the switches of all its threads. */
static void doubt_switches(const struct as_collect *c, struct as_total *totals)
{
	static const struct {
		enum as_field_id field;
		enum as_total_id total;
	} both[] = {{AS_F_JOB_CTX_VOL, AS_T_CTX_VOL}, {AS_F_JOB_CTX_INV, AS_T_CTX_INV}};
	static const char source[] = "/proc/PID/status, of first threads";

	for (size_t i = 0; i < AS_LEN(both); i++) {
		if (totals[both[i].total].value == AS_NA)
			continue;
		as_collect_origin(c, both[i].field, AS_ATTRIBUTED, source);
		as_total_set(totals, both[i].total, totals[both[i].total].value, AS_ATTRIBUTED,
			     source);
	}
}

static void tree_finish(void *st, const struct as_collect *c, struct as_total *totals)
{
	struct state *s = st;
	struct as_census *who = &s->census;

	if (!anything(c->want))
		return;
	if (c->attached) /* what we are the parent of was read at its end */
		as_census_read(who, c);
	add_up(s, c);
	as_counters_finish(&s->counters, c, &who->members, &who->ledger, &who->witness, who->ticks,
			   totals);
	if (c->attached && s->threaded && !who->pass.told && as_wants_group(c->want, AS_G_SCHED))
		doubt_switches(c, totals);
	as_census_finish(who, totals);
	if (as_wants_group(c->want, AS_G_MEMORY))
		as_peaks_finish(&s->peaks, &who->ledger, totals);
}

static int tree_signal(void *st, const struct as_collect *c, int sig)
{
	struct as_census *who = &((struct state *)st)->census;
	const struct as_members *m = &who->members;
	struct as_err err;
	int n = 0;

	(void)as_census_find(who, c, &err);
	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i]->gone && !m->v[i]->ended && m->v[i]->stat.state != 'Z')
			n += kill(m->v[i]->pid, sig) == 0 || errno != ESRCH;
	return n;
}

static void tree_close(void *st)
{
	struct state *s = st;

	as_pss_done(&s->pss);
	as_census_close(&s->census);
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
