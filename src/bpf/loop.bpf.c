/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * loop -- when threads of one process wait for events, and what they do in
 * between, exactly.
 *
 * A thread that enters epoll, poll or select for the first time gets a place in
 * `loops`. From the return of that call to the next one it is busy. The time
 * begins when it was woken, not when it got a CPU: others wait as long for it.
 * While it is busy each stay off the CPU is put down to the call it was in.
 *
 * Each place is written only on behalf of its own thread, so nothing is locked.
 * All other processes pass by with a comparison.
 */
#include "bpf/vmlinux.h"
#include "wire/loop.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct { /* by thread: its place */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AS_WIRE_LOOPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int32_t);
	__type(value, uint32_t);
} places SEC(".maps");

struct { /* mapped by whoever listens */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, AS_WIRE_LOOPS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, uint32_t);
	__type(value, struct as_wire_loop);
} loops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, AS_WIRE_LOOP_RING);
} ring SEC(".maps");

int32_t target = 0;
uint64_t threshold = 0;
uint32_t used = 0; /* places that are taken, or were wished for */
uint64_t lost = 0; /* blocks for which the ring had no room     */

static __always_inline struct as_wire_loop *find(int32_t tid)
{
	uint32_t *at = bpf_map_lookup_elem(&places, &tid);

	return at ? bpf_map_lookup_elem(&loops, at) : 0;
}

static __always_inline struct as_wire_loop *make(int32_t tid, uint64_t now)
{
	uint32_t at = __sync_fetch_and_add(&used, 1);

	struct as_wire_loop *x = bpf_map_lookup_elem(&loops, &at);

	if (!x || bpf_map_update_elem(&places, &tid, &at, BPF_ANY))
		return 0;
	x->tid = tid;
	x->first = now;
	return x;
}

enum wait { NO_WAIT, EPOLL, POLL };

/* Numbers of x86-64; elsewhere the table is the generic one. */
/* clang-format off */
static __always_inline enum wait wait_of(long nr)
{
	switch (nr) {
#ifdef __TARGET_ARCH_x86
	case 232: case 281: case 441: /* epoll_wait epoll_pwait epoll_pwait2 */
		return EPOLL;
	case 7: case 23: case 270: case 271: /* poll select pselect6 ppoll */
		return POLL;
#else
	case 22: case 441:
		return EPOLL;
	case 72: case 73:
		return POLL;
#endif
	}
	return NO_WAIT;
}
/* clang-format on */

/* ── a period ─────────────────────────────────────────────────────────── */

static __always_inline uint32_t log2_of(uint64_t v)
{
	uint32_t n = 0;

	for (uint32_t step = 32; step; step >>= 1)
		if (v >> step) {
			v >>= step;
			n += step;
		}
	return n;
}

static __always_inline uint32_t bucket_of(uint64_t v)
{
	if (v < 2u << AS_WIRE_LOOP_BITS)
		return v;
	if (v >> AS_WIRE_LOOP_LARGEST)
		return AS_WIRE_LOOP_BUCKETS - 1;
	uint32_t shift = log2_of(v) - AS_WIRE_LOOP_BITS;
	return (shift << AS_WIRE_LOOP_BITS) + (v >> shift);
}

static __always_inline void begin(struct as_wire_loop *x, struct task_struct *task, uint64_t now)
{
	uint64_t delay = task->sched_info.run_delay, late = x->delay ? delay - x->delay : 0;

	x->since = now - late;
	x->delay = delay - late;
	x->off = late;
	x->out = 0;
	for (int i = 0; i < AS_WIRE_LOOP_CALLS; i++) {
		x->in[i].nr = -1;
		x->in[i].ns = 0;
	}
}

static __always_inline void add_call(struct as_wire_loop *x, uint64_t ns)
{
	for (int i = 0; i < AS_WIRE_LOOP_CALLS; i++) {
		if (x->in[i].ns && x->in[i].nr != x->call)
			continue;
		x->in[i].nr = x->call;
		x->in[i].ns += ns;
		break;
	}
}

static __always_inline void tell(struct as_wire_loop *x, struct task_struct *task, uint64_t ns)
{
	struct as_wire_block *b = bpf_ringbuf_reserve(&ring, sizeof *b, 0);

	if (!b) {
		__sync_fetch_and_add(&lost, 1);
		return;
	}
	*b = (struct as_wire_block){.start = x->since,
				    .ns = ns,
				    .cpu = ns > x->off ? ns - x->off : 0,
				    .ready = task->sched_info.run_delay - x->delay,
				    .tid = x->tid,
				    .call = -1};
	for (int i = 0; i < AS_WIRE_LOOP_CALLS; i++)
		if (x->in[i].ns > b->in_call) {
			b->call = x->in[i].nr;
			b->in_call = x->in[i].ns;
		}
	bpf_ringbuf_submit(b, BPF_RB_NO_WAKEUP);
}

static __always_inline void end(struct as_wire_loop *x, struct task_struct *task, uint64_t now)
{
	uint64_t ns = now - x->since;
	uint32_t at = bucket_of(ns);

	if (at < AS_WIRE_LOOP_BUCKETS)
		x->bucket[at]++;
	x->periods++;
	x->busy += ns;
	x->max = ns > x->max ? ns : x->max;
	if (ns >= threshold) {
		x->over++;
		tell(x, task, ns);
	}
	x->since = 0;
}

/* ── calls ────────────────────────────────────────────────────────────── */

SEC("tp_btf/sys_enter")
int BPF_PROG(call_starts, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	enum wait wait = wait_of(nr);

	if (task->tgid != target)
		return 0;
	struct as_wire_loop *x = find(task->pid);
	uint64_t now = bpf_ktime_get_ns();
	if (!x && wait)
		x = make(task->pid, now);
	if (!x)
		return 0;
	x->call = nr;
	if (!wait || (wait == POLL && x->epolls))
		return 0;
	if (x->since)
		end(x, task, now);
	x->epolls |= wait == EPOLL;
	x->wait = nr;
	x->waiting = 1;
	x->delay = task->sched_info.run_delay;
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (task->tgid != target)
		return 0;
	struct as_wire_loop *x = find(task->pid);
	if (!x)
		return 0;
	x->call = -1;
	if (x->waiting)
		begin(x, task, bpf_ktime_get_ns());
	x->waiting = 0;
	return 0;
}

/* ── off the CPU and back ─────────────────────────────────────────────── */

static __always_inline void leaves(struct task_struct *task, bool preempted, uint64_t now)
{
	struct as_wire_loop *x = find(task->pid);

	if (!x || !x->since)
		return;
	x->out = now;
	x->slept = !preempted && task->__state;
}

static __always_inline void returns(struct task_struct *task, uint64_t now)
{
	struct as_wire_loop *x = find(task->pid);

	if (!x || !x->since || !x->out)
		return;
	uint64_t ns = now - x->out;
	x->off += ns;
	x->out = 0;
	if (x->slept)
		add_call(x, ns);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switches, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	if (prev->tgid == target)
		leaves(prev, preempted, bpf_ktime_get_ns());
	if (next->tgid == target)
		returns(next, bpf_ktime_get_ns());
	return 0;
}
