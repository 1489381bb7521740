#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * tasks -- what all living members of the job have used, in one pass.
 *
 * The kernel walks its tasks and calls us for each; what we write is read like a
 * file. Each thread is looked at once, and nobody's /proc is touched.
 *
 * A process that was asleep since it was last told of is only counted: of thousands
 * most are. Who was, its time on the CPU tells, to the nanosecond. What can change
 * meanwhile is its memory, where others reclaim it: the common count of its pages is
 * looked at now and then, and more seldom all is told anew.
 *
 * Most of what a look costs is waiting for memory that no cache has any more. So it
 * touches few places, and what was told lies in the order of the pids, as they come.
 */
#include "bpf/members.h"
#include "bpf/memory.h"
#include "wire/task.h"

/* Only one pass is made at a time, and a stack has 512 bytes. */
static struct as_wire_process record;
static uint8_t span[512] __attribute__((aligned(8)));

struct as_wire_pass passing;

/* How it was when it was last told of. */
struct told {
	int32_t pid;      /* whose it is: two pids may share a place */
	uint32_t threads; /* it had                                  */
	uint64_t cpu;
	uint64_t mm;    /* 0: it has none */
	uint64_t pages; /* as pages_seen() */
};

enum {
	TOLD_MAX = 1 << 13,
	LOOK_EVERY = 8, /* passes: at the memory of one that is asleep */
	TELL_EVERY = 64 /* and of all that it has                      */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TOLD_MAX);
	__type(key, uint32_t);
	__type(value, struct told);
} told SEC(".maps");

static __always_inline bool belongs(uint64_t process, const struct task_struct *t)
{
	const struct member *m = bpf_map_lookup_elem(&members, &process);

	return (m && m->pid == t->tgid) || is_named(t, AS_WIRE_MEMBER);
}

static __always_inline void fill_thread(struct as_wire_thread *r, const struct task_struct *t)
{
	r->tid = t->pid;
	r->pid = t->tgid;
	r->start = t->start_boottime + boottime_ahead;
	r->slices = t->sched_info.pcount;
	bpf_probe_read_kernel(r->comm, sizeof r->comm, t->comm);
	r->usage.cpu = t->se.sum_exec_runtime;
	r->usage.utime = t->utime;
	r->usage.stime = t->stime;
	r->usage.wait = t->sched_info.run_delay;
	r->usage.minflt = t->min_flt;
	r->usage.majflt = t->maj_flt;
	r->usage.voluntary = t->nvcsw;
	r->usage.forced = t->nivcsw;
	r->usage.rchar = t->ioac.rchar;
	r->usage.wchar = t->ioac.wchar;
	r->usage.syscr = t->ioac.syscr;
	r->usage.syscw = t->ioac.syscw;
	r->usage.read_bytes = t->ioac.read_bytes;
	r->usage.write_bytes = t->ioac.write_bytes;
	r->usage.cancelled_bytes = t->ioac.cancelled_write_bytes;
}

/*
 * What the kernel adds up for a process lies together in its signal_struct: one
 * read instead of twenty.
 */
#define AT(field)  bpf_core_field_offset(struct signal_struct, field)
#define SPAN       (AT(sum_sched_runtime) + sizeof(uint64_t) - AT(utime))
#define GET(field) (*(uint64_t *)(span + (AT(field) - AT(utime))))
#define GET_IO(what)                                                                               \
	(*(uint64_t *)(span + (AT(ioac) - AT(utime)) +                                             \
		       bpf_core_field_offset(struct task_io_accounting, what)))

static __always_inline void fill_ended(struct as_wire_group *r, const struct signal_struct *s)
{
	if (SPAN > sizeof span)
		return;
	bpf_probe_read_kernel(span, SPAN, (void *)((uint64_t)s + AT(utime)));
	r->ended.cpu = GET(sum_sched_runtime);
	r->ended.utime = GET(utime);
	r->ended.stime = GET(stime);
	r->ended.minflt = GET(min_flt);
	r->ended.majflt = GET(maj_flt);
	r->ended.voluntary = GET(nvcsw);
	r->ended.forced = GET(nivcsw);
	r->ended.rchar = GET_IO(rchar);
	r->ended.wchar = GET_IO(wchar);
	r->ended.syscr = GET_IO(syscr);
	r->ended.syscw = GET_IO(syscw);
	r->ended.read_bytes = GET_IO(read_bytes);
	r->ended.write_bytes = GET_IO(write_bytes);
	r->ended.cancelled_bytes = GET_IO(cancelled_write_bytes);
	r->child_utime = GET(cutime);
	r->child_stime = GET(cstime);
	r->child_minflt = GET(cmin_flt);
	r->child_majflt = GET(cmaj_flt);
}

/* The first thread may have ended before the others: then the next one knows the memory. */
static __always_inline const struct mm_struct *memory_of(const struct task_struct *t)
{
	const struct mm_struct *mm = BPF_CORE_READ(t, mm);

	if (mm || BPF_CORE_READ(t, signal, nr_threads) < 2)
		return mm;
	uint64_t next = (uint64_t)BPF_CORE_READ(t, thread_node.next);
	const struct task_struct *second =
		(const void *)(next - bpf_core_field_offset(struct task_struct, thread_node));
	return BPF_CORE_READ(second, mm);
}

static __always_inline void fill_memory(struct as_wire_group *r, const struct mm_struct *mm)
{
	struct pages p = {0};

	if (mm)
		pages_of(&p, mm);
	r->file = p.of[RSS_FILE];
	r->anon = p.of[RSS_ANON];
	r->swap = p.of[RSS_SWAP];
	r->shmem = p.of[RSS_SHMEM];
	r->hwm = mm ? BPF_CORE_READ(mm, hiwater_rss) : 0;
	r->vsize = mm ? BPF_CORE_READ(mm, total_vm) : 0;
}

/* Open descriptors have a bit each. */
static __always_inline uint64_t count_files(const struct task_struct *t)
{
	const struct fdtable *table = BPF_CORE_READ(t, files, fdt);
	uint64_t *words = (uint64_t *)span, n = 0;
	uint32_t size = table ? BPF_CORE_READ(table, max_fds) / 8 : 0;

	barrier_var(size); /* or the compiler checks another number than the verifier sees */
	if (size > sizeof span)
		return AS_WIRE_UNKNOWN;
	bpf_probe_read_kernel(span, size, BPF_CORE_READ(table, open_fds));
	for (uint32_t i = 0; i < sizeof span / sizeof *words && i < size / sizeof *words; i++)
		n += __builtin_popcountll(words[i]);
	return n;
}

/* ── those that stayed as they were ───────────────────────────────────── */

static __always_inline struct told *told_of(const struct task_struct *t)
{
	uint32_t at = (uint32_t)t->pid % TOLD_MAX;

	return bpf_map_lookup_elem(&told, &at);
}

/* The kernel's common counts of what reclaim takes: pages of files, and anonymous ones. */
static __always_inline uint64_t pages_seen(uint64_t mm)
{
	const struct mm_struct___old *old = (const void *)mm;
	uint64_t size = bpf_core_field_size(struct mm_struct, rss_stat) / 4, file = 0, anon = 0;
	uint64_t at = mm + bpf_core_field_offset(struct mm_struct, rss_stat);

	if (!mm)
		return 0;
	if (!bpf_core_field_exists(old->rss_stat.count))
		at += bpf_core_field_offset(struct percpu_counter, count);
	bpf_probe_read_kernel(&file, sizeof file, (void *)(at + RSS_FILE * size));
	bpf_probe_read_kernel(&anon, sizeof anon, (void *)(at + RSS_ANON * size));
	return file + (anon << 32);
}

/* Only one that runs can start a thread: who had one, and did not run, has one. */
static __always_inline bool as_before(const struct told *was, const struct task_struct *t)
{
	uint32_t turn = passing.number + (uint32_t)t->pid;

	return was->pid == t->pid && was->threads == 1 && was->cpu == t->se.sum_exec_runtime &&
	       t->__state && !t->exit_state && !passing.all && turn % TELL_EVERY &&
	       (turn % LOOK_EVERY || was->pages == pages_seen(was->mm));
}

static __always_inline void remember(const struct task_struct *t, const struct mm_struct *mm)
{
	struct told *now = told_of(t);

	if (!now)
		return;
	now->pid = t->pid;
	now->cpu = record.first.usage.cpu;
	now->threads = record.group.threads;
	now->mm = (uint64_t)mm;
	now->pages = pages_seen(now->mm);
}

/* ── telling ──────────────────────────────────────────────────────────── */

static __always_inline void tell_thread(struct seq_file *seq, const struct task_struct *t)
{
	record.first.kind = AS_WIRE_THREAD;
	fill_thread(&record.first, t);
	bpf_seq_write(seq, &record.first, sizeof record.first);
}

static __always_inline void tell_process(struct seq_file *seq, const struct task_struct *t,
					 const struct signal_struct *s)
{
	const struct mm_struct *mm = memory_of(t);

	record.first.kind = AS_WIRE_PROCESS;
	fill_thread(&record.first, t);
	record.group.parent = BPF_CORE_READ(t, real_parent, tgid);
	record.group.threads = BPF_CORE_READ(s, nr_threads);
	record.group.state = t->__state;
	record.group.exit_state = t->exit_state;
	fill_ended(&record.group, s);
	fill_memory(&record.group, mm);
	record.group.files = count_files(t);
	if (bpf_seq_write(seq, &record, sizeof record) == 0)
		remember(t, mm);
}

SEC("iter/task")
int tasks(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	const struct task_struct *t = ctx->task;

	if (!t)
		return 0;
	bool first = t->pid == t->tgid;
	const struct told *was = first ? told_of(t) : 0;
	if (was && as_before(was, t)) {
		passing.quiet++;
		return 0;
	}
	uint64_t process = process_of(t);
	if (!belongs(process, t))
		return 0;
	if (first)
		tell_process(seq, t, (const void *)process);
	else
		tell_thread(seq, t);
	return 0;
}
