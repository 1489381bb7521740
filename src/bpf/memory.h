#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * memory -- how many pages a process has, of each kind.
 *
 * Since 6.2 each processor counts for itself, and the common count is behind by
 * up to 32 pages a processor and kind (more on large machines): most of what a
 * small program has. So the processors' own counts are added, where there are
 * few enough of them.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

enum { RSS_FILE, RSS_ANON, RSS_SWAP, RSS_SHMEM };
enum { PROCESSORS_MAX = 32 };

const volatile uint32_t processors = 1;

/*
 * Where a processor keeps its own copy of something is the same distance away for
 * all things, and the kernel tells it to nobody. But of this map we learn both
 * ends: where the copies lie, and the address they are counted from.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} landmark SEC(".maps");

/* An address becomes a number to reckon with by being written down and read again. */
volatile uint64_t landmark_at, copy_at[PROCESSORS_MAX];

static __always_inline uint64_t landmark_base(void)
{
	uint64_t base = 0;

	landmark_at = (uint64_t)&landmark;
	bpf_probe_read_kernel(&base, sizeof base,
			      (void *)(landmark_at +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	return base;
}

static __always_inline int64_t own_counts(uint64_t counters, uint64_t base)
{
	int64_t sum = 0;

	for (uint32_t cpu = 0, zero = 0; cpu < PROCESSORS_MAX && cpu < processors; cpu++) {
		int32_t pages = 0;

		copy_at[cpu] = (uint64_t)bpf_map_lookup_percpu_elem(&landmark, &zero, cpu);
		bpf_probe_read_kernel(&pages, sizeof pages,
				      (void *)(counters + (copy_at[cpu] - base)));
		sum += pages;
	}
	return sum;
}

static __always_inline const struct percpu_counter *counter_of(const struct mm_struct *mm, int kind)
{
	return (const void *)((uint64_t)&mm->rss_stat +
			      kind * bpf_core_type_size(struct percpu_counter));
}

/* `base`: landmark_base() */
static __always_inline uint64_t pages_of(const struct mm_struct *mm, int kind, uint64_t base)
{
	const struct mm_struct___old *old = (const void *)mm;
	const struct percpu_counter *counter = counter_of(mm, kind);
	int64_t pages;

	if (bpf_core_field_exists(old->rss_stat.count)) {
		pages = BPF_CORE_READ(old, rss_stat.count[kind].counter);
	} else {
		pages = BPF_CORE_READ(counter, count);
		if (processors <= PROCESSORS_MAX)
			pages += own_counts((uint64_t)BPF_CORE_READ(counter, counters), base);
	}
	return pages > 0 ? pages : 0;
}
