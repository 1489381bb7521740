#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * tasks -- what all living members of the job have used, in one pass.
 *
 * A program of ours goes from seat to seat (bpf/seats.h) and writes into memory that
 * both sides see: no file, no copy, nobody's /proc is touched, and tasks of others
 * are not walked.
 *
 * A process that was asleep since it was last told of is only counted: of thousands
 * most are. Who was, its time on the CPU tells, to the nanosecond. What can change
 * meanwhile is its memory, where others reclaim it: the common count of its pages is
 * looked at now and then, and more seldom all is told anew.
 *
 * Most of what a look costs is waiting for memory that no cache has any more. So it
 * touches one line of a task that slept, and what lies together is read together.
 */
#include "bpf/memory.h"
#include "bpf/seats.h"

/* Only one pass is made at a time, and a stack has 512 bytes. */
static uint8_t span[512] __attribute__((aligned(8)));

/*
 * One of a row is looked at more closely at each pass, though it sleeps: at its memory;
 * and every so many passes all that it has is told.
 */
enum { TELL_EVERY = 8 * ROW };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct as_wire_telling);
} telling SEC(".maps");

/* ── one thread ───────────────────────────────────────────────────────── */

/* From one member of a structure to another, in one read; `at` is where they are seen. */
#define AT(type, field)          bpf_core_field_offset(struct type, field)
#define SPAN(type, from, to)     (AT(type, to) + sizeof(uint64_t) - AT(type, from))
#define FITS(type, from, to)     (SPAN(type, from, to) <= sizeof span)
#define PLACE(type, from, field) (at + (AT(type, field) - AT(type, from)))
#define GET(type, from, field)   (*(const uint64_t *)PLACE(type, from, field))
#define SEE_SPAN(type, from, to, where)                                                            \
	sight(span, sizeof span, (const void *)((uint64_t)(where) + AT(type, from)),               \
	      SPAN(type, from, to))

/* Is everything in the order that we read it in? Some kernels shuffle their structures. */
static __always_inline bool layout_known(void)
{
	return FITS(task_struct, mm, group_leader) && FITS(task_struct, utime, maj_flt) &&
	       FITS(task_struct, comm, signal) && FITS(sched_info, pcount, run_delay) &&
	       FITS(signal_struct, utime, sum_sched_runtime) &&
	       FITS(mm_struct, hiwater_rss, total_vm) && FITS(fdtable, max_fds, open_fds);
}

/* Who it is, and of whom. */
struct kin {
	int32_t tid, pid;
	uint32_t exited;
	uint64_t mm;
	const struct task_struct *first, *parent;
};

#define KIN(field) PLACE(task_struct, mm, field)

static __always_inline struct kin kin_of(const struct task_struct *t)
{
	const uint8_t *at = SEE_SPAN(task_struct, mm, group_leader, t);

	return (struct kin){
		.tid = *(const int32_t *)KIN(pid),
		.pid = *(const int32_t *)KIN(tgid),
		.exited = *(const uint32_t *)KIN(exit_state),
		.mm = *(const uint64_t *)KIN(mm),
		.first = (const void *)*(const uint64_t *)KIN(group_leader),
		.parent = (const void *)*(const uint64_t *)KIN(real_parent),
	};
}

#define TIMES(field) GET(task_struct, utime, field)

static __always_inline void fill_times(struct as_wire_thread *r, const struct task_struct *t)
{
	const uint8_t *at = SEE_SPAN(task_struct, utime, maj_flt, t);

	r->start = TIMES(start_boottime) + boottime_ahead;
	r->usage.utime = TIMES(utime);
	r->usage.stime = TIMES(stime);
	r->usage.minflt = TIMES(min_flt);
	r->usage.majflt = TIMES(maj_flt);
	r->usage.voluntary = TIMES(nvcsw);
	r->usage.forced = TIMES(nivcsw);
}

static __always_inline void fill_io(struct as_wire_usage *u, const struct task_struct *t)
{
	const struct task_io_accounting *io =
		(const void *)sight(span, sizeof span, &t->ioac,
				    bpf_core_type_size(struct task_io_accounting));

	u->rchar = io->rchar;
	u->wchar = io->wchar;
	u->syscr = io->syscr;
	u->syscw = io->syscw;
	u->read_bytes = io->read_bytes;
	u->write_bytes = io->write_bytes;
	u->cancelled_bytes = io->cancelled_write_bytes;
}

static __always_inline void fill_sched(struct as_wire_thread *r, const struct task_struct *t)
{
	const uint8_t *at = SEE_SPAN(sched_info, pcount, run_delay, &t->sched_info);

	r->slices = GET(sched_info, pcount, pcount);
	r->usage.wait = GET(sched_info, pcount, run_delay);
}

/* What its process has in common with others. */
struct shared {
	const struct files_struct *files;
	const struct signal_struct *signal;
};

#define SHARED(field) PLACE(task_struct, comm, field)

static __always_inline struct shared fill_thread(struct as_wire_thread *r,
						 const struct task_struct *t, const struct kin *kin)
{
	const uint8_t *at = SEE_SPAN(task_struct, comm, signal, t);
	const struct shared of = {(const void *)*(const uint64_t *)SHARED(files),
				  (const void *)*(const uint64_t *)SHARED(signal)};

	((uint64_t *)r->comm)[0] = ((const uint64_t *)at)[0];
	((uint64_t *)r->comm)[1] = ((const uint64_t *)at)[1];
	r->tid = kin->tid;
	r->pid = kin->pid;
	r->usage.cpu = SEE(t, se.sum_exec_runtime);
	fill_sched(r, t);
	fill_times(r, t);
	fill_io(&r->usage, t);
	return of;
}

/* ── its process ──────────────────────────────────────────────────────── */

#define SUM(field) GET(signal_struct, utime, field)
#define SUM_IO(what)                                                                               \
	(*(const uint64_t *)(at + (AT(signal_struct, ioac) - AT(signal_struct, utime)) +           \
			     AT(task_io_accounting, what)))

/* What the kernel has added up of those that ended. */
static __always_inline void fill_ended(struct as_wire_ended *r, const struct signal_struct *s)
{
	const uint8_t *at = SEE_SPAN(signal_struct, utime, sum_sched_runtime, s);

	r->threads.cpu = SUM(sum_sched_runtime);
	r->threads.utime = SUM(utime);
	r->threads.stime = SUM(stime);
	r->threads.wait = 0;
	r->threads.minflt = SUM(min_flt);
	r->threads.majflt = SUM(maj_flt);
	r->threads.voluntary = SUM(nvcsw);
	r->threads.forced = SUM(nivcsw);
	r->threads.rchar = SUM_IO(rchar);
	r->threads.wchar = SUM_IO(wchar);
	r->threads.syscr = SUM_IO(syscr);
	r->threads.syscw = SUM_IO(syscw);
	r->threads.read_bytes = SUM_IO(read_bytes);
	r->threads.write_bytes = SUM_IO(write_bytes);
	r->threads.cancelled_bytes = SUM_IO(cancelled_write_bytes);
	r->child_utime = SUM(cutime);
	r->child_stime = SUM(cstime);
	r->child_minflt = SUM(cmin_flt);
	r->child_majflt = SUM(cmaj_flt);
}

/*
 * Whoever writes them, when a thread ends or a child was waited for, counts that: as long as
 * it did not, the last telling stands. The count is taken first, so that none is missed.
 */
static __always_inline bool tell_ended(struct as_wire_ended *r, struct seat *s,
				       const struct signal_struct *sums)
{
	uint32_t room = NEVER;
	uint32_t now = *(const uint32_t *)sight(&room, sizeof room, &sums->stats_lock, sizeof now);

	if (now == s->sums && !(now & 1) && !passing.all)
		return false;
	s->sums = now;
	fill_ended(r, sums);
	return true;
}

/* The first thread may have ended before the others: then the next one knows the memory. */
static __always_inline uint64_t memory_of(const struct task_struct *t, const struct kin *kin,
					  uint32_t threads)
{
	if (kin->mm || threads < 2)
		return kin->mm;
	uint64_t next = (uint64_t)SEE(t, thread_node.next);
	const struct task_struct *second = (const void *)(next - AT(task_struct, thread_node));
	return (uint64_t)SEE(second, mm);
}

/* The common counts of what reclaim takes: pages of files, and anonymous ones. */
static __always_inline uint64_t fill_memory(struct as_wire_group *r, const struct mm_struct *mm)
{
	struct pages p = {0};

	if (mm)
		pages_of(&p, mm);
	r->file = p.of[RSS_FILE];
	r->anon = p.of[RSS_ANON];
	r->swap = p.of[RSS_SWAP];
	r->shmem = p.of[RSS_SHMEM];
	const uint8_t *at = SEE_SPAN(mm_struct, hiwater_rss, total_vm, mm);
	r->hwm = mm ? GET(mm_struct, hiwater_rss, hiwater_rss) : 0;
	r->vsize = mm ? GET(mm_struct, hiwater_rss, total_vm) : 0;
	return p.common;
}

/* Open descriptors have a bit each. */
static __always_inline uint64_t count_files(const struct files_struct *files)
{
	const struct fdtable *table = files ? SEE(files, fdt) : NULL;
	const uint8_t *at = SEE_SPAN(fdtable, max_fds, open_fds, table);
	uint32_t size = table ? *(const uint32_t *)PLACE(fdtable, max_fds, max_fds) / 8 : 0;
	uint64_t n = 0;

	barrier_var(size); /* or the compiler checks another number than the verifier sees */
	if (size > sizeof span)
		return AS_WIRE_UNKNOWN;
	const uint64_t *words =
		(const void *)sight(span, sizeof span,
				    (const void *)GET(fdtable, max_fds, open_fds), size);
	for (uint32_t i = 0; i < sizeof span / sizeof *words && i < size / sizeof *words; i++)
		n += __builtin_popcountll(words[i]);
	return n;
}

/* False: without `ended`. */
static __always_inline bool fill_group(struct as_wire_group *r, struct seat *s,
				       const struct task_struct *t, const struct kin *kin,
				       const struct shared *of)
{
	const struct signal_struct *sums = of->signal;
	const struct task_struct *parent = kin->parent;

	r->threads = SEE(sums, nr_threads);
	r->parent = SEE(parent, tgid);
	r->state = SEE(t, __state);
	r->exit_state = kin->exited;
	s->mm = memory_of(t, kin, r->threads);
	s->pages = fill_memory(r, (const void *)s->mm);
	r->files = count_files(of->files);
	return tell_ended(&r->ended, s, sums);
}

/* ── those that stayed as they were ───────────────────────────────────── */

/* Those that are to be told of at this pass. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEATS_MAX);
	__type(key, uint32_t);
	__type(value, uint32_t);
} queue SEC(".maps");

static uint32_t queued;

static __always_inline void enqueue(uint32_t seat)
{
	uint32_t *last = bpf_map_lookup_elem(&queue, &queued);

	if (!last)
		return;
	*last = seat;
	queued++;
}

/*
 * Does a member still sit there? Its task may have been another's since. A thread that
 * execs takes the number of its process's first.
 */
static __always_inline bool present(struct seat *s, uint32_t at, const struct task_struct *t,
				    const struct kin *kin)
{
	bool same = s->tid == kin->tid && s->start == SEE(t, start_boottime);

	if (kin->exited & EXIT_DEAD)
		return false;
	if (same && !kin->exited)
		return true;
	if (!belongs(process_of(t), kin->pid))
		return false;
	if (!same)
		identify(s, at, t);
	return true;
}

/* Which process it is of. */
static __always_inline void find_first(struct seat *s, uint32_t at, const struct task_struct *t,
				       const struct kin *kin)
{
	bool leads = kin->first == t;

	s->first = leads ? at : seat_of(kin->first, at);
	processes += leads && !s->leads;
	s->leads = leads;
}

/* It is not as it was, so its process is to be told of. Not static: it is verified once. */
__noinline int stir(uint32_t at)
{
	struct seat *s = seat_at(at);
	const struct row *row = row_of(at);

	if (!s || !row || !s->tid)
		return 0;
	const struct task_struct *t = (const void *)row->task[at % ROW];
	const struct kin kin = kin_of(t);
	bool there = present(s, at, t, &kin);
	if (there)
		find_first(s, at, t, &kin);
	struct seat *first = seat_at(s->first);
	if (first && first->stirred != passing.number) {
		first->stirred = passing.number;
		if (first->leads && (there || first != s))
			enqueue(s->first);
	}
	if (!there)
		leave_seat(s, at);
	return 0;
}

/* Is it time to tell of this process again, or does its memory show that it is? */
__noinline int take_turn(uint32_t at)
{
	const struct seat *s = seat_at(at);

	if (s && s->leads &&
	    ((passing.number + at) % TELL_EVERY == 0 ||
	     s->pages != common_pages((const void *)s->mm)))
		stir(at);
	return 0;
}

#define SE(field) AT(task_struct, se.field)
#define SE_SPAN   (SE(sum_exec_runtime) + sizeof(uint64_t) - SE(on_rq))
#define MAY_RUN   (UNTOLD - 1)

/* Its time on the CPU. While it runs, that is behind. */
static __always_inline uint64_t peek(uint64_t task)
{
	uint8_t room[64];

	if (SE_SPAN > sizeof room)
		return MAY_RUN;
	const uint8_t *se = sight(room, sizeof room, (const void *)(task + SE(on_rq)), SE_SPAN);
	return *se ? MAY_RUN : *(const uint64_t *)(se + (SE(sum_exec_runtime) - SE(on_rq)));
}

/* The reads come one right after another, so that nobody waits for one before the next. */
static long stir_row(void *map, const uint32_t *number, const struct row *row, void *data)
{
	uint32_t at = *number * ROW, turn = -passing.number % ROW;
	uint64_t now[ROW];

	if (at >= seats_used)
		return 1;
#pragma unroll
	for (uint32_t i = 0; i < ROW; i++)
		now[i] = peek(row->task[i]);
#pragma unroll
	for (uint32_t i = 0; i < ROW; i++)
		if (now[i] != row->cpu[i] || passing.all)
			stir(at + i);
	take_turn(at + turn);
	return 0;
}

/* Threads that are not the first of a process: all of one that is told of are. */
static long follow_first(void *map, const uint32_t *at, const struct seat *s, void *data)
{
	if (*at >= seats_used)
		return 1;
	const struct seat *first = s->tid && !s->leads ? seat_at(s->first) : NULL;
	if (first && first->stirred == passing.number)
		enqueue(*at);
	return 0;
}

/* ── telling ──────────────────────────────────────────────────────────── */

/* Room for the largest record; it takes what passing.len then grows by. */
static __always_inline void *room(void)
{
	struct as_wire_telling *all = bpf_map_lookup_elem(&telling, &(uint32_t){0});
	uint32_t at = passing.len;

	barrier_var(at);
	if (!all || at > sizeof all->bytes - sizeof(struct as_wire_process))
		return NULL;
	return all->bytes + at;
}

/* One that is exiting, told after its last moment on a CPU, would look asleep for ever. */
static __always_inline void keep_cpu(struct row *row, uint32_t at, uint64_t cpu,
				     const struct task_struct *t)
{
	row->cpu[at % ROW] = SEE(t, exit_state) ? UNTOLD : cpu;
}

static __always_inline bool tell_thread(struct row *row, uint32_t at, const struct task_struct *t)
{
	struct as_wire_thread *r = room();

	if (!r)
		return false;
	passing.len += sizeof *r;
	const struct kin kin = kin_of(t);
	r->kind = AS_WIRE_THREAD;
	fill_thread(r, t, &kin);
	keep_cpu(row, at, r->usage.cpu, t);
	return true;
}

static __always_inline bool tell_process(struct seat *s, struct row *row, uint32_t at,
					 const struct task_struct *t)
{
	struct as_wire_process *r = room();

	if (!r)
		return false;
	const struct kin kin = kin_of(t);
	const struct shared of = fill_thread(&r->first, t, &kin);
	bool whole = fill_group(&r->group, s, t, &kin, &of);
	r->first.kind = whole ? AS_WIRE_PROCESS : AS_WIRE_BRIEF;
	passing.len += whole ? sizeof *r : AS_WIRE_BRIEF_LEN;
	keep_cpu(row, at, r->first.usage.cpu, t);
	passing.told++;
	return true;
}

static long tell(void *map, const uint32_t *place, const uint32_t *at, void *data)
{
	if (*place >= queued)
		return 1;
	struct seat *s = seat_at(*at);
	struct row *row = row_of(*at);
	if (*place < passing.from || !s || !row)
		return 0;
	const struct task_struct *t = (const void *)row->task[*at % ROW];
	if (!(s->leads ? tell_process(s, row, *at, t) : tell_thread(row, *at, t)))
		return 1;
	passing.from = *place + 1;
	return 0;
}

/*
 * Not attached to anything: os/life_bpf.c runs it, and again while there is more to be
 * told than there is room for.
 */
SEC("raw_tp/sched_process_free")
int look(void *ctx)
{
	if (!layout_known())
		return 1;
	passing.len = 0;
	if (!passing.from) {
		queued = 0;
		hear_births();
		bpf_for_each_map_elem(&rows, stir_row, NULL, 0);
		if (threads != processes)
			bpf_for_each_map_elem(&seats, follow_first, NULL, 0);
	}
	bpf_for_each_map_elem(&queue, tell, NULL, 0);
	passing.more = passing.from < queued;
	passing.quiet = processes - passing.told;
	return 0;
}
