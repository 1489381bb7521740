#include "collect/sums.h"

#include <string.h>

#include "collect/counters.h"
#include "collect/process.h"
#include "collect/threads.h"

/* ── one part ─────────────────────────────────────────────────────────── */

bool as_sums_counts(const struct as_process *p)
{
	return as_process_seen(p) && !p->gone && !p->missing;
}

int64_t as_sums_peak(const struct as_process *p)
{
	int64_t hwm = as_process_hwm(p);

	return hwm != AS_NA ? hwm : p->status.rss;
}

static void counters_of(const struct as_process *p, const struct as_collect *c,
			int64_t v[AS_NCOUNTERS])
{
	const struct as_proc_stat *s = &p->stat;
	const struct as_proc_base *b = &p->base;
	int64_t reaped = c->children; /* a process attached to alone is without its children */

	v[AS_K_USER] = s->utime - b->utime + reaped * (s->cutime - b->cutime);
	v[AS_K_SYSTEM] = s->stime - b->stime + reaped * (s->cstime - b->cstime);
	v[AS_K_MINFLT] = s->minflt - b->minflt + reaped * (s->cminflt - b->cminflt);
	v[AS_K_MAJFLT] = s->majflt - b->majflt + reaped * (s->cmajflt - b->cmajflt);
	v[AS_K_READ] = as_since(p->io.read_bytes, p->io_base.read_bytes);
	v[AS_K_WRITE] = as_since(p->io.write_bytes, p->io_base.write_bytes);
	v[AS_K_CANCELLED] = as_since(p->io.cancelled, p->io_base.cancelled);
	v[AS_K_RCHAR] = as_since(p->io.rchar, p->io_base.rchar);
	v[AS_K_WCHAR] = as_since(p->io.wchar, p->io_base.wchar);
	v[AS_K_SYSCR] = as_since(p->io.syscr, p->io_base.syscr);
	v[AS_K_SYSCW] = as_since(p->io.syscw, p->io_base.syscw);
	v[AS_K_VOLUNTARY] = as_since(p->status.voluntary, p->status_base.voluntary);
	v[AS_K_FORCED] = as_since(p->status.forced, p->status_base.forced);
	v[AS_K_WAIT] = p->ended ? 0 : as_threads_wait(p); /* the ledger has that of the ended */
}

static int64_t known(int64_t v)
{
	return v == AS_PROC_NA ? 0 : v;
}

static void add_counters(union as_part *part, const struct as_process *p,
			 const struct as_collect *c)
{
	counters_of(p, c, part->counter);
	for (size_t k = 0; k < AS_NCOUNTERS; k++) {
		part->unknown |= (int64_t)(part->counter[k] == AS_NA) << k;
		part->counter[k] = known(part->counter[k]);
	}
}

static void add_gauges(union as_part *part, const struct as_process *p, const struct as_collect *c)
{
	part->procs = 1;
	part->threads = p->stat.threads;
	part->rss = p->stat.rss * c->env->page;
	part->vms = p->stat.vsize;
	part->swap = known(p->status.swap);
	part->fds = known(p->fds);
	part->fds_hidden = p->fds == AS_PROC_NA;
	part->peak = known(as_sums_peak(p));
}

/* As as_process_usage() has it: everything but what its children left with it. */
static void add_own(union as_part *part, const struct as_process *p)
{
	struct as_life_usage u = as_process_usage(p);

	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		part->own[k] = known(as_counter_used(&u, (enum as_counter_id)k));
}

/* ── all ──────────────────────────────────────────────────────────────── */

static void exchange_unknown(struct as_sums *all, int64_t plus, int64_t minus)
{
	for (size_t k = 0; k < AS_NCOUNTERS; k++)
		all->unknown[k] += (plus >> k & 1) - (minus >> k & 1);
}

/* all + plus - minus */
static void exchange(struct as_sums *all, const union as_part *plus, const union as_part *minus)
{
	for (size_t i = 0; i < AS_PART_NUMBERS; i++)
		all->of.number[i] += plus->number[i] - minus->number[i];
	if (plus->unknown != minus->unknown)
		exchange_unknown(all, plus->unknown, minus->unknown);
}

/* What decides which of its numbers are in the sums. */
static uint8_t standing(const struct as_process *p)
{
	return (uint8_t)(1 | as_sums_counts(p) << 1 | !p->ended << 2 | (p->stat.state == 'Z') << 3);
}

static void bring_up_to_date(struct as_sums *all, struct as_process *p, const struct as_collect *c)
{
	union as_part part = {0};
	bool counts = as_sums_counts(p);

	if (counts)
		add_counters(&part, p, c);
	if (counts && p->stat.state != 'Z')
		add_gauges(&part, p, c);
	if (!p->ended)
		add_own(&part, p);
	exchange(all, &part, &p->part);
	p->part = part;
	p->standing = standing(p);
}

bool as_sums_update(struct as_sums *all, struct as_process *p, const struct as_collect *c)
{
	bool due = p->changed || p->standing != standing(p);

	if (due)
		bring_up_to_date(all, p, c);
	return due;
}

void as_sums_leave(struct as_sums *all, const struct as_process *p)
{
	exchange(all, &(union as_part){0}, &p->part);
}
