#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * life -- births, execs and ends of the job's processes, into a ring buffer.
 *
 * A thread's time on the CPU is not whole when it passes its exit: the stretch
 * that it is running just then is added when it leaves the CPU for good. So an
 * end is told twice. DIED, at the exit of the last thread, knows when and how.
 * SETTLED, when the kernel frees the last task_struct, knows how much, exactly:
 * what each thread used is added up once more as it is freed. The kernel frees in
 * batches and, now and then, one of them goes by untold (seen on 6.18: 3 of 1,000
 * tasks); then what DIED said stands, and a name that is given to another process
 * (members.h) is noticed by its pid.
 *
 * The target pays for this at fork, exec and exit, so nobody is woken up until
 * a quarter of the ring is full.
 */
#include "bpf/members.h"
#include "bpf/memory.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, AS_WIRE_RING);
} ring SEC(".maps");

static const struct member nobody;

uint64_t lost; /* events and processes for which there was no room */

const volatile uint32_t page_kib = 4;

enum { SIGNAL_GROUP_EXIT = 4 };

/* ── records ──────────────────────────────────────────────────────────── */

static __always_inline void *reserve(uint64_t size)
{
	void *record = bpf_ringbuf_reserve(&ring, size, 0);

	if (!record)
		__sync_fetch_and_add(&lost, 1);
	return record;
}

static __always_inline void submit(void *record)
{
	bool wake = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > AS_WIRE_RING / 4;

	bpf_ringbuf_submit(record, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void fill(struct as_wire_life *r, uint32_t kind, const struct task_struct *t)
{
	r->kind = kind;
	r->pid = t->tgid;
	r->parent = 0;
	r->status = 0;
	r->t = bpf_ktime_get_ns();
	r->start = t->start_boottime;
	bpf_probe_read_kernel(r->comm, sizeof r->comm, t->comm);
}

/* ── usage ────────────────────────────────────────────────────────────── */

#define ADD(to, what) __sync_fetch_and_add(&u->to, what)

static __always_inline void add_thread(struct as_wire_usage *u, const struct task_struct *t)
{
	ADD(cpu, t->se.sum_exec_runtime);
	ADD(utime, t->utime);
	ADD(stime, t->stime);
	ADD(wait, t->sched_info.run_delay);
	ADD(minflt, t->min_flt);
	ADD(majflt, t->maj_flt);
	ADD(voluntary, t->nvcsw);
	ADD(forced, t->nivcsw);
	ADD(rchar, t->ioac.rchar);
	ADD(wchar, t->ioac.wchar);
	ADD(syscr, t->ioac.syscr);
	ADD(syscw, t->ioac.syscw);
	ADD(read_bytes, t->ioac.read_bytes);
	ADD(write_bytes, t->ioac.write_bytes);
	ADD(cancelled_bytes, t->ioac.cancelled_write_bytes);
}

/*
 * What the kernel itself has added up of the threads that it released. Not their
 * I/O: there the kernel also adds that of children who were waited for.
 */
static __always_inline void add_released(struct as_wire_usage *u, const struct signal_struct *s)
{
	ADD(cpu, BPF_CORE_READ(s, sum_sched_runtime));
	ADD(utime, BPF_CORE_READ(s, utime));
	ADD(stime, BPF_CORE_READ(s, stime));
	ADD(minflt, BPF_CORE_READ(s, min_flt));
	ADD(majflt, BPF_CORE_READ(s, maj_flt));
	ADD(voluntary, BPF_CORE_READ(s, nvcsw));
	ADD(forced, BPF_CORE_READ(s, nivcsw));
}

/* ── members ──────────────────────────────────────────────────────────── */

static __always_inline void forget_name(const struct task_struct *t)
{
	int32_t pid = t->tgid;

	bpf_map_delete_elem(&named, &pid);
}

/* A new member, all zeros; NULL when there is no room. */
static __always_inline struct member *admit(uint64_t process, const struct task_struct *t)
{
	bpf_map_update_elem(&members, &process, &nobody, BPF_ANY);
	struct member *m = bpf_map_lookup_elem(&members, &process);
	if (!m) {
		__sync_fetch_and_add(&lost, 1);
		return NULL;
	}
	m->pid = t->tgid;
	m->hwm = AS_WIRE_UNKNOWN;
	return m;
}

/*
 * Something is heard of it for the first time: what it did before, the kernel knows.
 * `exiting`: by its exit, when the kernel does not count it among the living any more.
 */
static __always_inline struct member *adopt(uint64_t process, const struct task_struct *t,
					    bool exiting)
{
	const struct signal_struct *s = (const void *)process;
	struct member *m = admit(process, t);

	forget_name(t);
	if (!m)
		return NULL;
	m->midway = 1;
	m->alive = BPF_CORE_READ(s, live.counter) + exiting;
	m->left = BPF_CORE_READ(s, sigcnt.refs.counter);
	m->counted = m->left - BPF_CORE_READ(s, nr_threads);
	m->start = BPF_CORE_READ(t, group_leader, start_boottime);
	m->old_maxrss = BPF_CORE_READ(s, maxrss);
	add_released(&m->exited, s);
	m->freed = m->exited;
	return m;
}

static __always_inline struct member *find(uint64_t process, const struct task_struct *t,
					   bool exiting)
{
	struct member *m = bpf_map_lookup_elem(&members, &process);

	if (m && m->pid == t->tgid)
		return m;
	return is_named(t, AS_WIRE_MEMBER) ? adopt(process, t, exiting) : NULL;
}

/* ── birth ────────────────────────────────────────────────────────────── */

static __always_inline void thread_born(uint64_t process, const struct task_struct *t)
{
	struct member *m = bpf_map_lookup_elem(&members, &process);

	if (!m || m->pid != t->tgid) {
		(void)find(process, t, false); /* adopted with this thread in it */
		return;
	}
	__sync_fetch_and_add(&m->alive, 1);
	__sync_fetch_and_add(&m->left, 1);
	__sync_fetch_and_add(&m->threads, 1);
}

static __always_inline void process_born(const struct task_struct *parent, uint64_t process,
					 const struct task_struct *child)
{
	struct member *m = admit(process, child);

	if (!m)
		return;
	m->start = child->start_boottime;
	m->alive = m->left = m->threads = 1;
	struct as_wire_life *r = reserve(sizeof *r);
	if (!r)
		return;
	fill(r, AS_WIRE_BORN, child);
	r->parent = parent->tgid;
	submit(r);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(life_fork, struct task_struct *parent, struct task_struct *child)
{
	uint64_t from = process_of(parent), process = process_of(child);

	if (from == process)
		thread_born(process, child);
	else if (find(from, parent, false) || is_named(parent, AS_WIRE_PARENT))
		process_born(parent, process, child);
	return 0;
}

/* ── exec ─────────────────────────────────────────────────────────────── */

/* The argument area is still in memory: the kernel has just written it. */
static __always_inline void read_args(struct as_wire_exec *r, const struct task_struct *t)
{
	uint64_t start = BPF_CORE_READ(t, mm, arg_start);
	uint64_t len = BPF_CORE_READ(t, mm, arg_end) - start;

	if (len > AS_WIRE_ARGS)
		len = AS_WIRE_ARGS;
	r->len = bpf_probe_read_user(r->args, len, (const void *)start) == 0 ? len : 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(life_exec, struct task_struct *t)
{
	uint64_t process = process_of(t);
	struct member *m = find(process, t, false);

	if (!m)
		return 0;
	m->old_maxrss = BPF_CORE_READ((const struct signal_struct *)process, maxrss);
	struct as_wire_exec *r = reserve(sizeof *r);
	if (!r)
		return 0;
	fill(&r->life, AS_WIRE_EXEC, t);
	read_args(r, t);
	submit(r);
	return 0;
}

/* ── end ──────────────────────────────────────────────────────────────── */

/* Before 6.16 the memory is gone at this point, and maxrss mixes all programs that it ran. */
static __always_inline uint64_t high_water(const struct task_struct *t,
					   const struct signal_struct *s, const struct member *m)
{
	const struct mm_struct *mm = BPF_CORE_READ(t, mm);
	uint64_t maxrss = BPF_CORE_READ(s, maxrss);

	if (mm) {
		uint64_t high = BPF_CORE_READ(mm, hiwater_rss);
		struct pages p = {0};

		pages_of(&p, mm);
		uint64_t now = p.of[RSS_FILE] + p.of[RSS_ANON] + p.of[RSS_SHMEM];
		return (high > now ? high : now) * page_kib;
	}
	return maxrss > m->old_maxrss ? maxrss : AS_WIRE_UNKNOWN;
}

static __always_inline int32_t wait_status(const struct task_struct *t,
					   const struct signal_struct *s)
{
	return BPF_CORE_READ(s, flags) & SIGNAL_GROUP_EXIT
		       ? BPF_CORE_READ(s, group_exit_code)
		       : BPF_CORE_READ(t, group_leader, exit_code);
}

static __always_inline void tell_end(uint32_t kind, const struct task_struct *t,
				     const struct member *m, const struct as_wire_usage *usage)
{
	struct as_wire_end *r = reserve(sizeof *r);

	if (!r)
		return;
	fill(&r->life, kind, t);
	r->life.start = m->start; /* the last thread need not be the first */
	r->life.status = m->status;
	r->usage = *usage;
	r->hwm = m->hwm;
	r->threads = m->midway ? AS_WIRE_UNKNOWN : m->threads;
	submit(r);
}

static __always_inline void tell_death(const struct task_struct *t, const struct signal_struct *s,
				       struct member *m)
{
	m->hwm = high_water(t, s, m);
	m->status = wait_status(t, s);
	tell_end(AS_WIRE_DIED, t, m, &m->exited);
}

/*
 * The last thread is the one after which nobody is alive by our count and by the
 * kernel's: ours is behind where threads pass each other on the way here, and
 * the kernel's is ahead.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(life_exit, struct task_struct *t)
{
	uint64_t process = process_of(t);
	const struct signal_struct *s = (const void *)process;
	struct member *m = find(process, t, true);

	if (!m)
		return 0;
	add_thread(&m->exited, t);
	if (__sync_fetch_and_add(&m->alive, -1) > 1 || BPF_CORE_READ(s, live.counter) > 0)
		return 0;
	if (__sync_val_compare_and_swap(&m->died, 0, 1) == 0)
		tell_death(t, s, m);
	forget_name(t);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(life_free, struct task_struct *t)
{
	uint64_t process = process_of(t);
	struct member *m = find(process, t, false);

	if (!m)
		return 0;
	if (m->counted > 0)
		__sync_fetch_and_add(&m->counted, -1);
	else
		add_thread(&m->freed, t);
	if (__sync_fetch_and_add(&m->left, -1) != 1)
		return 0;
	tell_end(AS_WIRE_SETTLED, t, m, &m->freed);
	bpf_map_delete_elem(&members, &process);
	return 0;
}
