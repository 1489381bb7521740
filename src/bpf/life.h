#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * life -- births, execs and ends of the job's processes, into a ring buffer.
 *
 * A thread's time on the CPU is not whole when it passes its exit: the stretch
 * that it is running just then is added when it leaves the CPU for good. So an
 * end is told twice. DIED, at the exit of the last thread, knows when and how.
 * SETTLED knows how much, exactly: what each thread used is added up once more
 * when it will not run again. That is seen at the next end on the same CPU, or
 * when the kernel frees the task, 10 to 30 ms later, or by `settle`, which
 * looks at all of them for those who cannot wait. No one of the three is
 * enough: on one kernel (6.18, of a cloud) 1 to 5 % of the tasks were freed
 * and nobody was told.
 *
 * The target pays for this at fork, exec and exit, so nobody is woken up until
 * so much is in the ring that it is time (wake_at).
 */
#include "bpf/memory.h"
#include "bpf/seats.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, AS_WIRE_RING);
} ring SEC(".maps");

static const struct member nobody;

uint64_t lost; /* events and processes for which there was no room */

const volatile uint32_t page_kib = 4;
const volatile uint32_t wake_at; /* bytes */

enum { SIGNAL_GROUP_EXIT = 4, TASK_DEAD = 0x80 };

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
	bool wake = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > wake_at;

	bpf_ringbuf_submit(record, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void fill(struct as_wire_life *r, uint32_t kind, const struct member *m,
				 const struct task_struct *t)
{
	r->kind = kind;
	r->pid = m->pid;
	r->parent = 0;
	r->status = m->status;
	r->t = bpf_ktime_get_ns() + monotonic_ahead;
	r->start = m->start + boottime_ahead;
	bpf_probe_read_kernel(r->comm, sizeof r->comm, t->comm);
}

/* ── usage ────────────────────────────────────────────────────────────── */

#define ADD(to, what) __sync_fetch_and_add(&u->to, what)

/* GET(what) is how a number of the task is read. */
#define ADD_THREAD(GET)                                                                            \
	do {                                                                                       \
		ADD(cpu, GET(se.sum_exec_runtime));                                                \
		ADD(utime, GET(utime));                                                            \
		ADD(stime, GET(stime));                                                            \
		ADD(wait, GET(sched_info.run_delay));                                              \
		ADD(minflt, GET(min_flt));                                                         \
		ADD(majflt, GET(maj_flt));                                                         \
		ADD(voluntary, GET(nvcsw));                                                        \
		ADD(forced, GET(nivcsw));                                                          \
		ADD(rchar, GET(ioac.rchar));                                                       \
		ADD(wchar, GET(ioac.wchar));                                                       \
		ADD(syscr, GET(ioac.syscr));                                                       \
		ADD(syscw, GET(ioac.syscw));                                                       \
		ADD(read_bytes, GET(ioac.read_bytes));                                             \
		ADD(write_bytes, GET(ioac.write_bytes));                                           \
		ADD(cancelled_bytes, GET(ioac.cancelled_write_bytes));                             \
	} while (0)

static __always_inline void add_thread(struct as_wire_usage *u, const struct task_struct *t)
{
#define DIRECT(what) t->what
	ADD_THREAD(DIRECT);
}

/* The same of a task whose address is all we have. */
static __always_inline void add_thread_at(struct as_wire_usage *u, const struct task_struct *t)
{
#define BY_HELPER(what) BPF_CORE_READ(t, what)
	ADD_THREAD(BY_HELPER);
}

static __always_inline void add_usage(struct as_wire_usage *to, const struct as_wire_usage *more)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)more;

	for (uint32_t i = 0; i < sizeof *to / sizeof *a; i++)
		__sync_fetch_and_add(&a[i], b[i]);
}

/* Their I/O, where the kernel also adds that of children who were waited for. */
static __always_inline void add_released_io(struct as_wire_usage *u, const struct signal_struct *s)
{
	ADD(rchar, BPF_CORE_READ(s, ioac.rchar));
	ADD(wchar, BPF_CORE_READ(s, ioac.wchar));
	ADD(syscr, BPF_CORE_READ(s, ioac.syscr));
	ADD(syscw, BPF_CORE_READ(s, ioac.syscw));
	ADD(read_bytes, BPF_CORE_READ(s, ioac.read_bytes));
	ADD(write_bytes, BPF_CORE_READ(s, ioac.write_bytes));
	ADD(cancelled_bytes, BPF_CORE_READ(s, ioac.cancelled_write_bytes));
}

/* What the kernel itself has added up of the threads that it released. */
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
	m->hwm = m->file = AS_WIRE_UNKNOWN;
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
	const struct task_struct *first = BPF_CORE_READ(t, group_leader);
	struct member *m = admit(process, t);

	forget_name(t);
	if (!m)
		return NULL;
	m->midway = 1;
	m->alive = BPF_CORE_READ(s, live.counter) + exiting;
	m->start = BPF_CORE_READ(first, start_boottime);
	m->old_maxrss = BPF_CORE_READ(s, maxrss);
	add_released(&m->exited, s);
	uint64_t children = BPF_CORE_READ(s, cutime) + BPF_CORE_READ(s, cstime);
	if (!children)
		add_released_io(&m->exited, s);
	m->mixed = children && BPF_CORE_READ(s, sum_sched_runtime);
	if (first != t && BPF_CORE_READ(first, exit_state)) /* it ended, and waits for the others */
		add_thread_at(&m->exited, first);
	m->settled = m->exited;
	return m;
}

static __always_inline struct member *find(uint64_t process, const struct task_struct *t,
					   bool exiting)
{
	struct member *m = bpf_map_lookup_elem(&members, &process);

	if (m && m->pid == t->tgid)
		return m;
	return is_named(t->tgid, AS_WIRE_MEMBER) ? adopt(process, t, exiting) : NULL;
}

/* ── birth ────────────────────────────────────────────────────────────── */

static __always_inline void thread_born(uint64_t process, const struct task_struct *t)
{
	struct member *m = bpf_map_lookup_elem(&members, &process);

	if (!m || m->pid != t->tgid) {
		if (find(process, t, false)) /* adopted with this thread in it */
			announce(t);
		return;
	}
	__sync_fetch_and_add(&m->alive, 1);
	__sync_fetch_and_add(&m->threads, 1);
	announce(t);
}

static __always_inline void process_born(const struct task_struct *parent, uint64_t process,
					 const struct task_struct *child)
{
	struct member *m = admit(process, child);

	if (!m)
		return;
	m->start = child->start_boottime;
	m->alive = m->threads = 1;
	announce(child);
	struct as_wire_life *r = reserve(sizeof *r);
	if (!r)
		return;
	fill(r, AS_WIRE_BORN, m, child);
	r->parent = parent->tgid;
	submit(r);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(life_fork, struct task_struct *parent, struct task_struct *child)
{
	uint64_t from = process_of(parent), process = process_of(child);

	if (from == process)
		thread_born(process, child);
	else if (find(from, parent, false) || is_named(parent->tgid, AS_WIRE_PARENT))
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
	fill(&r->life, AS_WIRE_EXEC, m, t);
	read_args(r, t);
	submit(r);
	return 0;
}

/* ── end ──────────────────────────────────────────────────────────────── */

/* Before 6.16 the memory is gone at this point, and maxrss mixes all programs that it ran. */
static __always_inline void high_water(struct member *m, const struct task_struct *t,
				       const struct signal_struct *s)
{
	const struct mm_struct *mm = BPF_CORE_READ(t, mm);
	uint64_t maxrss = BPF_CORE_READ(s, maxrss);

	if (mm) {
		uint64_t high = BPF_CORE_READ(mm, hiwater_rss);
		struct pages p = {0};

		pages_of(&p, mm);
		uint64_t now = p.of[RSS_FILE] + p.of[RSS_ANON] + p.of[RSS_SHMEM];
		m->hwm = (high > now ? high : now) * page_kib;
		m->file = p.of[RSS_FILE] * page_kib;
	} else if (maxrss > m->old_maxrss) {
		m->hwm = maxrss;
	}
}

static __always_inline int32_t wait_status(const struct task_struct *t,
					   const struct signal_struct *s)
{
	return BPF_CORE_READ(s, flags) & SIGNAL_GROUP_EXIT
		       ? BPF_CORE_READ(s, group_exit_code)
		       : BPF_CORE_READ(t, group_leader, exit_code);
}

static __always_inline void forget_io(struct as_wire_usage *u)
{
	u->rchar = u->wchar = u->syscr = u->syscw = AS_WIRE_UNKNOWN;
	u->read_bytes = u->write_bytes = u->cancelled_bytes = AS_WIRE_UNKNOWN;
}

static __always_inline void tell_end(uint32_t kind, const struct task_struct *t,
				     const struct member *m, const struct as_wire_usage *usage)
{
	struct as_wire_end *r = reserve(sizeof *r);

	if (!r)
		return;
	fill(&r->life, kind, m, BPF_CORE_READ(t, group_leader)); /* whose name the process has */
	r->usage = *usage;
	r->hwm = m->hwm;
	r->file = m->file;
	r->threads = m->midway ? AS_WIRE_UNKNOWN : m->threads;
	if (m->mixed)
		forget_io(&r->usage);
	submit(r);
}

static __always_inline void tell_death(const struct task_struct *t, const struct signal_struct *s,
				       struct member *m)
{
	high_water(m, t, s);
	m->status = wait_status(t, s);
	tell_end(AS_WIRE_DIED, t, m, &m->exited);
}

/* ── to the last ns ───────────────────────────────────────────────────── */

/* The process of a thread that nobody has added up before; NULL: not ours, or done. */
static __always_inline struct member *claim(uint64_t task, uint64_t *process)
{
	const uint64_t *of = bpf_map_lookup_elem(&ending, &task);

	if (!of)
		return NULL;
	*process = *of;
	return bpf_map_delete_elem(&ending, &task) == 0 ? bpf_map_lookup_elem(&members, process)
							: NULL;
}

/* One of its threads was added up. */
static __always_inline void settled(struct member *m, uint64_t process, const struct task_struct *t)
{
	if (__sync_fetch_and_add(&m->ending, -1) != 1 || !m->died)
		return;
	tell_end(AS_WIRE_SETTLED, t, m, &m->settled);
	bpf_map_delete_elem(&members, &process);
}

/* Will it not run any more? It is dead before it leaves the CPU. */
static __always_inline bool at_rest(const struct task_struct *t)
{
	return (BPF_CORE_READ(t, __state) & TASK_DEAD) &&
	       !(bpf_core_field_exists(t->on_cpu) && BPF_CORE_READ(t, on_cpu));
}

/* Is the task still the thread that ended? Freed untold, its place may be another one's by now. */
static __always_inline bool same_thread(const struct task_struct *t, uint64_t process)
{
	const struct member *m = bpf_map_lookup_elem(&members, &process);

	return m && m->pid == BPF_CORE_READ(t, tgid);
}

/*
 * Add up a thread that ended; false when it still runs, or when the kernel would
 * not let us at the map just now. What it used is read before it is claimed: as
 * long as nobody has, the task is not freed.
 */
static __noinline bool settle_thread(uint64_t task, uint64_t process)
{
	const struct task_struct *t = (const void *)task;
	struct as_wire_usage used = {0};
	bool same = same_thread(t, process);

	if (same && !at_rest(t))
		return false;
	add_thread_at(&used, t);
	struct member *m = claim(task, &process);
	if (!m)
		return !bpf_map_lookup_elem(&ending, &task);
	if (!same)
		return true;
	add_usage(&m->settled, &used);
	settled(m, process, t);
	return true;
}

/* A thread ends: the one that ended before it on this CPU has left it. */
static __always_inline void settle_before(uint64_t task)
{
	uint64_t *last = bpf_map_lookup_elem(&before, &(uint32_t){0});

	if (!last)
		return;
	uint64_t one = *last;
	*last = task;
	const uint64_t *process = one ? bpf_map_lookup_elem(&ending, &one) : NULL;
	if (process)
		(void)settle_thread(one, *process);
}

/*
 * The last thread is the one after which nobody is alive by our count and by the
 * kernel's: ours is behind where threads pass each other on the way here, and
 * the kernel's is ahead.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(life_exit, struct task_struct *t)
{
	uint64_t process = process_of(t), task = (uint64_t)t;
	const struct signal_struct *s = (const void *)process;
	struct member *m = find(process, t, true);

	if (!m)
		return 0;
	add_thread(&m->exited, t);
	if (bpf_map_update_elem(&ending, &task, &process, BPF_ANY) == 0)
		__sync_fetch_and_add(&m->ending, 1);
	if (__sync_fetch_and_add(&m->alive, -1) > 1 || BPF_CORE_READ(s, live.counter) > 0)
		return 0;
	if (__sync_val_compare_and_swap(&m->died, 0, 1) == 0)
		tell_death(t, s, m);
	forget_name(t);
	settle_before(task);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(life_free, struct task_struct *t)
{
	uint64_t process = 0;
	struct member *m = claim((uint64_t)t, &process);

	if (!m || m->pid != t->tgid)
		return 0;
	add_thread(&m->settled, t);
	settled(m, process, t);
	return 0;
}

uint32_t owed; /* threads that were still running when `settle` looked */

static long settle_each(void *map, const uint64_t *task, const uint64_t *process, void *data)
{
	if (!settle_thread(*task, *process))
		owed++;
	return 0;
}

/* Not attached to anything: os/life_bpf.c runs it. */
SEC("raw_tp/sched_process_free")
int settle(void *ctx)
{
	owed = 0;
	bpf_for_each_map_elem(&ending, settle_each, NULL, 0);
	return 0;
}
