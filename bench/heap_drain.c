/*
 * heap_drain -- what the heap's collector needs for one event, in ns of CPU time.
 *
 *	heap_drain [EVENTS [LIVE [KINDS [THREADS]]]]
 *
 * A made-up program that holds LIVE allocations and replaces one after another,
 * some old and some just made; only reading is timed. Prints one line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tests/unit/fake_guest.h"
#include "base/clock.h"
#include "heap/drain.h"

struct setup {
	uint64_t events, live, kinds, threads;
};

struct work {
	struct setup is;
	struct as_mapping mapping;
	struct fake_guest guest;
	struct as_drain *drain;
	uint64_t seed, done;
	uint64_t *slot; /* addresses that are in use; 0: none */
};

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int64_t cpu(void)
{
	return as_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Half of what is given back was made just before, as in real programs. */
static void step(struct work *w, uint32_t ring)
{
	uint64_t at = next(&w->seed) % (next(&w->seed) % 2 ? 16 : w->is.live);
	uint32_t kind = (uint32_t)(next(&w->seed) % w->is.kinds);

	if (w->slot[at])
		fake_word_free(&w->guest, ring, w->slot[at]);
	else
		fake_word_alloc(&w->guest, ring, kind, 0x10000 + at * 112);
	w->slot[at] = w->slot[at] ? 0 : 0x10000 + at * 112;
	w->done++;
}

/* A ring's worth of events, threads in turn for a while each. */
static void fill(struct work *w)
{
	uint32_t ring = 1;

	for (size_t i = 0; fake_room(&w->guest, ring) && i < 8000; i++) {
		step(w, ring);
		if (next(&w->seed) % 8 == 0)
			ring = 1 + (uint32_t)(next(&w->seed) % w->is.threads);
	}
	for (uint32_t i = 1; i <= w->is.threads; i++)
		fake_publish(&w->guest, i);
}

static int64_t run(struct work *w)
{
	int64_t spent = 0;

	while (w->done < w->is.events) {
		fill(w);
		int64_t start = cpu();

		while (as_drain_run(w->drain, as_now(), false))
			;
		spent += cpu() - start;
	}
	return spent;
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
	return i < argc ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	struct work w = {.is = {number(argc, argv, 1, 10000000), number(argc, argv, 2, 100000),
				number(argc, argv, 3, 500), number(argc, argv, 4, 1)},
			 .seed = 42};
	struct as_heap_names names = {NULL};
	struct as_kinds kinds = {NULL};
	struct as_err err;
	struct as_tracker *t = as_tracker_new(1, NULL, &err);

	w.slot = calloc(w.is.live, sizeof *w.slot);
	if (!t || !w.slot || as_mapping_open(&w.mapping, &err) < 0)
		return 1;
	w.guest.heap = w.mapping.heap;
	if (w.is.kinds > AS_WIRE_SLOTS)
		return 1;
	for (uint32_t i = 1; i <= w.is.threads; i++) {
		fake_use(&w.guest, i, 100 + i);
		for (uint32_t kind = 0; kind < w.is.kinds; kind++)
			fake_kind(&w.guest, i, kind, AS_WIRE_OP_MALLOC, 16 + kind);
	}
	w.drain = as_drain_new(
		&(struct as_drain_config){.mapping = &w.mapping,
					  .names = &names,
					  .deeds = {.tracker = t, .kinds = &kinds, .page = 4096}},
		&err);
	if (!w.drain)
		return 1;
	int64_t spent = run(&w);
	printf("{\"events\": %" PRIu64 ", \"ns_per_event\": %.1f}\n", w.done,
	       (double)spent / (double)w.done);
	return 0;
}
