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
#include "bpf/sight.h"

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
volatile uint64_t landmark_at, copy_at[PROCESSORS_MAX], distance_to[PROCESSORS_MAX];

static __always_inline uint64_t distance(uint32_t cpu)
{
	uint64_t base = 0;
	uint32_t zero = 0;

	if (distance_to[cpu])
		return distance_to[cpu];
	landmark_at = (uint64_t)&landmark;
	copy_at[cpu] = (uint64_t)bpf_map_lookup_percpu_elem(&landmark, &zero, cpu);
	bpf_probe_read_kernel(&base, sizeof base,
			      (void *)(landmark_at +
				       bpf_core_field_offset(struct bpf_array, pptrs)));
	return distance_to[cpu] = copy_at[cpu] - base;
}

struct pages {
	int64_t of[4];   /* of each kind                                                       */
	uint64_t common; /* as common_pages()                                                  */
};

/* The common counts alone of what others may take: pages of files, and anonymous ones. */
static __always_inline uint64_t both(uint64_t file, uint64_t anon)
{
	return file + (anon << 32);
}

static __always_inline uint64_t common_pages(const struct mm_struct *mm)
{
	const struct mm_struct___old *old = (const void *)mm;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(old->rss_stat.count))
		return both(BPF_CORE_READ(old, rss_stat.count[RSS_FILE].counter),
			    BPF_CORE_READ(old, rss_stat.count[RSS_ANON].counter));
	return both(SEE(mm, rss_stat[RSS_FILE].count), SEE(mm, rss_stat[RSS_ANON].count));
}

/* The processors' own counts of the four kinds lie side by side. */
static __always_inline void add_own_counts(struct pages *p, uint64_t counters)
{
	for (uint32_t cpu = 0; cpu < PROCESSORS_MAX && cpu < processors; cpu++) {
		int32_t room[4] = {0};
		const int32_t *own =
			(const void *)sight(room, sizeof room,
					    (const void *)(counters + distance(cpu)), sizeof room);

		for (int i = 0; i < 4; i++)
			p->of[i] += own[i];
	}
}

enum { COUNTER_MAX = 64 }; /* bytes that a struct percpu_counter may have */

/* The four counters in one read. */
static __always_inline void count_pages(struct pages *p, const struct mm_struct *mm)
{
	uint64_t size = bpf_core_type_size(struct percpu_counter);
	uint64_t count = bpf_core_field_offset(struct percpu_counter, count);
	uint64_t own = bpf_core_field_offset(struct percpu_counter, counters);
	uint8_t room[4 * COUNTER_MAX];

	if (size > COUNTER_MAX)
		return;
	const uint8_t *raw = sight(room, sizeof room, &mm->rss_stat, 4 * size);
	for (int i = 0; i < 4; i++)
		p->of[i] = *(const int64_t *)(raw + i * size + count);
	p->common = both(p->of[RSS_FILE], p->of[RSS_ANON]);
	uint64_t first = *(const uint64_t *)(raw + own);
	uint64_t last = *(const uint64_t *)(raw + 3 * size + own);
	if (processors <= PROCESSORS_MAX && last == first + 3 * sizeof(int32_t))
		add_own_counts(p, first);
}

static __always_inline void pages_of(struct pages *p, const struct mm_struct *mm)
{
	const struct mm_struct___old *old = (const void *)mm;

	if (!bpf_core_field_exists(old->rss_stat.count)) {
		count_pages(p, mm);
	} else {
		p->of[0] = BPF_CORE_READ(old, rss_stat.count[0].counter);
		p->of[1] = BPF_CORE_READ(old, rss_stat.count[1].counter);
		p->of[2] = BPF_CORE_READ(old, rss_stat.count[2].counter);
		p->of[3] = BPF_CORE_READ(old, rss_stat.count[3].counter);
		p->common = both(p->of[RSS_FILE], p->of[RSS_ANON]);
	}
	for (int i = 0; i < 4; i++)
		if (p->of[i] < 0)
			p->of[i] = 0;
}
