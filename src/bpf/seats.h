#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * seats -- where the living threads of the job are, so that nobody has to search.
 *
 * Each has a seat with the address of its task. Who is born announces itself;
 * the next pass gives it a seat (bpf/tasks.h). Who was there before, or was not
 * heard, is found by a walk through all tasks of the machine, which is the dear
 * way and made only when somebody may be missing.
 *
 * Seats are given and taken by our own calls only, one at a time. A task may be
 * gone when its seat is looked at, and its memory another one's: everything is
 * read by a helper that cannot fail badly, and who sits there is asked anew when
 * anything has changed.
 */
#include "bpf/members.h"
#include "wire/task.h"

struct as_wire_pass passing;

/* What each pass looks at, many in a row: of one that slept nothing else is touched. */
enum { ROW = 8 };

struct row {
	uint64_t task[ROW]; /* its address; 0: nobody's                     */
	uint64_t cpu[ROW];  /* ns, when it was last told of; UNTOLD         */
};

struct seat {
	uint64_t start;     /* CLOCK_BOOTTIME of its birth, of the kernel          */
	uint64_t mm, pages; /* of a first thread: its memory, and what there was   */
	int32_t tid;      /* 0: nobody's                                                         */
	uint32_t first;   /* the seat of its process's first thread; free: the next free one + 1 */
	uint32_t stirred; /* of a first thread: the last pass at which one of them had run       */
	uint32_t leads;   /* it is a first thread                                                */
	uint32_t sums;    /* the count of its process's sums when they were told; NEVER          */
	uint32_t unused;
};

#define UNTOLD UINT64_MAX
#define NEVER  1 /* an odd one: they are just being written */
enum { SEATS_MAX = 1 << 14, BIRTHS_MAX = 1 << 10, EXIT_DEAD = 16 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEATS_MAX / ROW);
	__type(key, uint32_t);
	__type(value, struct row);
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEATS_MAX);
	__type(key, uint32_t);
	__type(value, struct seat);
} seats SEC(".maps");

/* By address of the task: its seat. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SEATS_MAX);
	__type(key, uint64_t);
	__type(value, uint32_t);
} seated SEC(".maps");

static uint32_t seats_used, seats_free; /* those that were ever used; the first free one + 1 */
static uint32_t threads, processes;     /* who sit there                                     */

static __always_inline struct seat *seat_at(uint32_t at)
{
	return bpf_map_lookup_elem(&seats, &at);
}

static __always_inline struct row *row_of(uint32_t at)
{
	return bpf_map_lookup_elem(&rows, &(uint32_t){at / ROW});
}

static __always_inline uint32_t seat_of(const struct task_struct *t, uint32_t otherwise)
{
	uint64_t task = (uint64_t)t;
	const uint32_t *at = bpf_map_lookup_elem(&seated, &task);

	return at ? *at : otherwise;
}

static __always_inline bool belongs(uint64_t process, int32_t pid)
{
	const struct member *m = bpf_map_lookup_elem(&members, &process);

	return (m && m->pid == pid) || is_named(pid, AS_WIRE_MEMBER);
}

/* It is as if it had never been told of. */
static __always_inline void identify(struct seat *s, uint32_t at, const struct task_struct *t)
{
	struct row *row = row_of(at);

	if (!row)
		return;
	row->task[at % ROW] = (uint64_t)t;
	row->cpu[at % ROW] = UNTOLD;
	processes -= s->leads;
	s->leads = 0;
	s->sums = NEVER;
	s->tid = BPF_CORE_READ(t, pid);
	s->start = BPF_CORE_READ(t, start_boottime);
}

/* Where there is no seat left, nobody is told of any more: /proc is read. */
static __noinline void take_seat(const struct task_struct *t)
{
	uint64_t task = (uint64_t)t;
	uint32_t at = seat_of(t, seats_free ? seats_free - 1 : seats_used);
	struct seat *s = seat_at(at);

	if (!s) {
		passing.full = 1;
		return;
	}
	if (bpf_map_update_elem(&seated, &task, &at, BPF_NOEXIST) == 0) {
		if (seats_free)
			seats_free = s->first;
		else
			seats_used++;
		s->first = at;
		s->stirred = 0;
		threads++;
	}
	identify(s, at, t);
}

static __always_inline void leave_seat(struct seat *s, uint32_t at)
{
	struct row *row = row_of(at);

	if (!row)
		return;
	bpf_map_delete_elem(&seated, &row->task[at % ROW]);
	row->task[at % ROW] = row->cpu[at % ROW] = 0;
	processes -= s->leads;
	threads--;
	*s = (struct seat){.first = seats_free};
	seats_free = at + 1;
}

/* ── births ───────────────────────────────────────────────────────────── */

struct birth {
	uint64_t number; /* from 1 on */
	uint64_t task;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BIRTHS_MAX);
	__type(key, uint32_t);
	__type(value, struct birth);
} births SEC(".maps");

static uint64_t births_told, births_heard, births_until;

static __always_inline void announce(const struct task_struct *t)
{
	uint64_t number = __sync_fetch_and_add(&births_told, 1);
	uint32_t at = number % BIRTHS_MAX;
	struct birth *b = bpf_map_lookup_elem(&births, &at);

	if (!b)
		return;
	b->task = (uint64_t)t;
	__sync_lock_test_and_set(&b->number, number + 1);
}

static long hear_birth(void *map, const uint32_t *at, const struct birth *b, void *heard)
{
	uint64_t number = b->number;

	if (number <= births_heard || number > births_until)
		return 0;
	const struct task_struct *t = (const void *)b->task;
	if (belongs(process_of(t), BPF_CORE_READ(t, tgid))) /* else it is gone */
		take_seat(t);
	(*(uint64_t *)heard)++;
	return 0;
}

/* Some may have been too many for the ring, or are just being written: then all are searched. */
static __always_inline void hear_births(void)
{
	uint64_t heard = 0;

	births_until = births_told;
	if (births_until == births_heard)
		return;
	bpf_for_each_map_elem(&births, hear_birth, &heard, 0);
	passing.missed |= heard != births_until - births_heard;
	births_heard = births_until;
}

/* ── a walk ───────────────────────────────────────────────────────────── */

SEC("iter/task")
int search(struct bpf_iter__task *ctx)
{
	const struct task_struct *t = ctx->task;

	if (t && belongs(process_of(t), t->tgid) && seat_of(t, SEATS_MAX) == SEATS_MAX)
		take_seat(t);
	return 0;
}
