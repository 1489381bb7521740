/*
 * Each allocation of the collector fails once: it goes on, says that something
 * is missing, and what it says still adds up.
 */
#include "base/fault.h"

#include "fake_guest.h"
#include "heap/drain.h"
#include "utest.h"

struct rig {
	struct as_mapping mapping;
	struct fake_guest guest;
	struct as_tracker *tracker;
	struct as_heap_names names;
	struct as_kinds kinds;
	struct as_follow follow;
	struct as_drain *drain;
};

static bool open_rig(struct rig *r, uint64_t sample)
{
	struct as_err err;

	r->tracker = as_tracker_new(1, NULL, &err);
	if (r->tracker)
		r->drain = as_drain_new(&(struct as_drain_config){.mapping = &r->mapping,
								  .names = &r->names,
								  .deeds = {.tracker = r->tracker,
									    .kinds = &r->kinds,
									    .sample = sample,
									    .page = 4096}},
					&err);
	EXPECT(r->drain || err.code == AS_ENOMEM);
	return r->drain;
}

static void close_rig(struct rig *r)
{
	as_drain_free(r->drain);
	as_tracker_free(r->tracker);
	as_kinds_done(&r->kinds);
	as_heap_names_done(&r->names);
}

/* Threads, kinds, live ones, pieces of mappings, nodes and notes: enough that all grow. */
static void write_some(struct fake_guest *g)
{
	struct {
		struct as_wire_code c;
		char text[8];
	} code = {.c = {.name = 3, .file = 4}, .text = "abcd.py"};
	uint32_t thread[5] = {101, 0, 0x1000, 0, 0x636261};

	for (uint32_t i = 1; i <= 20; i++)
		fake_use(g, i, 100 + i);
	for (uint64_t i = 0; i < 1600; i++)
		fake_alloc(g, 1 + i % 20, AS_WIRE_OP_MALLOC, 64 + i * 64, i % 700);
	for (uint64_t i = 0; i < 100; i++) {
		fake_alloc(g, 1, AS_WIRE_OP_MMAP, 0x1000000 + i * 0x10000, 0x3000);
		fake_unmap(g, 2, 0x1000000 + i * 0x10000 + 0x1000, 0x1000);
	}
	for (uint64_t i = 0; i < 1600; i++)
		fake_free(g, 1 + i % 20, 64 + i * 64);
	for (uint32_t i = 1; i <= 20; i++)
		fake_publish(g, i);
	fake_note(g, AS_WIRE_NOTE_CODE, &code, sizeof code.c + 7);
	fake_note(g, AS_WIRE_NOTE_THREAD, thread, sizeof thread);
	atomic_store(&g->heap->nnodes, 1500);
}

static void adds_up(const struct rig *r)
{
	struct as_heap_totals all;

	as_tracker_totals(r->tracker, &all);
	EXPECT_I64(all.made.count - all.freed.count, all.left.count);
	EXPECT_I64(all.made.bytes - all.freed.bytes, all.left.bytes);
	EXPECT(all.left.bytes >= 0 && all.peak.bytes >= all.left.bytes);
}

/* Did the call that was to fail come? Then no other does. */
static bool came(void)
{
	for (int i = 0; i < 100000; i++)
		if (as_fault())
			return false;
	return true;
}

/* False: there was nothing left to fail. */
static bool survive(struct rig *r, unsigned long n, uint64_t sample)
{
	struct as_heap_totals all = {0};
	struct as_drain_counts counts = {.incomplete = true};

	as_fault_arm(n);
	if (open_rig(r, sample)) {
		while (as_drain_run(r->drain, 10, true))
			;
		as_follow(&r->follow, &r->mapping, &r->names);
		if (!sample)
			adds_up(r);
		as_tracker_totals(r->tracker, &all);
		as_drain_counts(r->drain, &counts);
	}
	bool whole = !counts.incomplete && !r->follow.short_of;
	EXPECT(!whole || sample || all.made.count == 1700);
	EXPECT(!whole || (r->names.nnodes == 1500 && r->names.ncodes == 1));
	close_rig(r);
	bool failed = came();
	EXPECT(whole || failed);
	return failed;
}

static void each_fails(uint64_t sample)
{
	bool failed = true;
	unsigned long n = 0;

	while (failed) {
		struct rig r = {.mapping.fd = -1};
		struct as_err err;

		as_fault_arm(0);
		EXPECT_OK(as_mapping_open(&r.mapping, &err), err);
		r.guest.heap = r.mapping.heap;
		write_some(&r.guest);
		failed = survive(&r, ++n, sample);
		as_mapping_close(&r.mapping);
	}
	EXPECT(n > 20);
}

static void t_a_collector_without_memory_goes_on(void)
{
	each_fails(0);
}

static void t_so_does_one_of_samples(void)
{
	each_fails(4096);
}

static void t_no_mapping_is_an_error(void)
{
	struct as_mapping m = {.fd = -1};
	struct as_err err = {0};

	as_fault_arm(1);
	EXPECT(as_mapping_open(&m, &err) < 0);
	EXPECT(err.msg[0] && m.fd == -1 && !m.heap);
}

UTEST_MAIN(T(t_a_collector_without_memory_goes_on), T(t_so_does_one_of_samples),
	   T(t_no_mapping_is_an_error))
