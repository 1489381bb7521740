#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * members -- who belongs to the job, as the kernel side keeps it.
 *
 * The key is the address of the signal_struct: a process has exactly one from
 * its birth until the last of its threads is freed. A pid would not do: it can
 * be given to another process while the first one is still being taken apart.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "wire/life.h"

/* ns that the clocks of whoever listens are ahead of the kernel's: a time namespace. */
const volatile int64_t monotonic_ahead, boottime_ahead;

struct member {
	struct as_wire_usage exited;  /* threads that ended, as far as known at their exit     */
	struct as_wire_usage settled; /* threads that left the CPU for good: exact             */
	uint64_t start;               /* CLOCK_BOOTTIME of its birth, of the kernel            */
	uint64_t hwm;                 /* KiB                                                   */
	uint64_t file;                /* KiB of mapped files when it ended                     */
	uint64_t old_maxrss;          /* KiB: of the programs before the last exec             */
	int32_t pid;
	int32_t status;
	int32_t alive;    /* threads that did not pass their exit yet                          */
	uint32_t ending;  /* threads that did, and are not in `settled` yet                    */
	uint32_t threads; /* it ever had                                                       */
	uint32_t died;
	uint32_t midway; /* it lived already when it was named                                 */
	uint32_t mixed;  /* I/O of threads that ended before that is among that of its children */
};

enum { MEMBERS_MAX = 1 << 15, NAMED_MAX = 1 << 14, ENDING_MAX = 1 << 14 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MEMBERS_MAX);
	__type(key, uint64_t);
	__type(value, struct member);
} members SEC(".maps");

/*
 * By address of its task_struct: the process of each thread that passed its exit
 * and is not settled. Whoever takes it out of here is the one who adds it up.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ENDING_MAX);
	__type(key, uint64_t);
	__type(value, uint64_t);
} ending SEC(".maps");

/* The thread that ended last on each CPU: a task_struct. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} before SEC(".maps");

/* By pid: those whom the program named, until something is heard of them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, NAMED_MAX);
	__type(key, int32_t);
	__type(value, uint32_t); /* enum as_wire_named */
} named SEC(".maps");

/*
 * Pointers are read with a helper, not followed: for each pointer that a program
 * follows, the verifier searches all types of the kernel by name, which made
 * loading take 46 ms instead of 5. Numbers are read directly: that is fastest.
 */
static __always_inline uint64_t process_of(const struct task_struct *t)
{
	return (uint64_t)BPF_CORE_READ(t, signal);
}

static __always_inline bool is_named(int32_t pid, uint32_t as)
{
	uint32_t *how = bpf_map_lookup_elem(&named, &pid);

	return how && *how == as;
}
