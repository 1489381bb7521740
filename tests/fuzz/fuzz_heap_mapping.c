/*
 * The memory that a guest shares with us, with anything in it. The input is
 * split among some rings, nodes and notes, and begins with the counters that say
 * how much of each is complete. What comes out must still add up.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heap/drain.h"

enum { RINGS = 3 };

struct counters {
	uint64_t seq, nnotes;
	uint32_t nnodes, tid;
	struct {
		uint32_t head;
		uint8_t state, lap, zero[2];
	} ring[RINGS];
};

struct sums {
	int64_t live;
	uint64_t kinds, events;
	const struct as_kinds *all;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void on_kind(void *arg, const struct as_heap_kind *k)
{
	struct sums *s = arg;

	must(k->op < AS_WIRE_OPS && k->python < AS_WIRE_NODES && k->native < AS_WIRE_NODES);
	s->kinds++;
}

static void add(struct sums *s, uint32_t kind, bool made, uint64_t bytes)
{
	must(kind < s->kinds);
	s->events++;
	s->live += made ? (int64_t)bytes : -(int64_t)bytes;
	must(s->live >= 0);
}

static void on_event(void *arg, const struct as_heap_event *e)
{
	add(arg, e->kind, e->what == AS_HEAP_ALLOC, e->bytes);
}

static void on_batch(void *arg, const struct as_heap_batch *b)
{
	const struct sums *s = arg;

	for (size_t i = 0; i < b->n; i++)
		add(arg, b->at[i].kind, !b->at[i].freed, s->all->kind[b->at[i].kind].size);
}

/* A head that is laps ahead of what was read makes no sense, and is tried too. */
static void place(struct as_wire_heap *heap, uint32_t i, const struct counters *c, const uint8_t *p,
		  size_t n)
{
	struct as_wire_ring *r = &heap->ring[i];
	size_t size = as_mapping_ring_size(i);
	uint8_t *bytes = (uint8_t *)heap + as_mapping_ring_at(i);

	memcpy(bytes, p, n < size ? n : size);
	atomic_store(&r->head, c->ring[i].head + (uint64_t)(c->ring[i].lap / 64) * size);
	atomic_store(&r->state, c->ring[i].state % 4);
	atomic_store(&r->tid, c->tid + i / 2);
}

static void fill(struct as_wire_heap *heap, const struct counters *c, const uint8_t *p, size_t n)
{
	size_t part = n / (RINGS + 2);

	as_mapping_describe(heap);
	atomic_store(&heap->seq, c->seq);
	atomic_store(&heap->nnodes, c->nnodes % 5000); /* all of them would take long */
	atomic_store(&heap->nnotes, c->nnotes);
	memcpy((char *)heap + heap->nodes_at, p, part);
	memcpy((char *)heap + heap->notes_at, p + part, part);
	for (uint32_t i = 0; i < RINGS; i++)
		place(heap, i, c, p + (2 + i) * part, part);
}

static void check(const struct as_tracker *t, const struct sums *s)
{
	struct as_heap_totals all;

	as_tracker_totals(t, &all);
	must(all.left.bytes == s->live || !s->events);
	must(all.made.count - all.freed.count == all.left.count && all.left.count >= 0);
	must(all.peak.bytes >= all.left.bytes);
	must(as_tracker_kinds(t) == s->kinds);
}

static void drain(const struct as_mapping *m, uint64_t sample)
{
	struct as_kinds kinds = {NULL};
	struct sums s = {.all = &kinds};
	struct as_deeds_sink sink = {on_kind, on_event, on_batch, &s};
	struct as_heap_names names = {NULL};
	struct as_follow follow = {0};
	struct as_err err;
	struct as_tracker *t = as_tracker_new(1, NULL, &err);
	struct as_drain *d = as_drain_new(&(struct as_drain_config){.mapping = m,
								    .names = &names,
								    .deeds = {.tracker = t,
									      .sink = &sink,
									      .kinds = &kinds,
									      .sample = sample,
									      .page = 4096}},
					  &err);

	must(t && d);
	(void)as_drain_run(d, 1000, false);
	as_follow(&follow, m, &names);
	while (as_drain_run(d, 2000, true))
		;
	as_follow(&follow, m, &names);
	if (!sample)
		check(t, &s);
	as_drain_free(d);
	as_tracker_free(t);
	as_kinds_done(&kinds);
	as_heap_names_done(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One mapping for all inputs: to make it takes longer than anything else here. */
static struct as_wire_heap *memory(void)
{
	static void *p;

	if (!p)
		p = mmap(NULL, as_mapping_bytes(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(p != MAP_FAILED && !madvise(p, as_mapping_bytes(), MADV_DONTNEED));
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_mapping m = {.heap = memory(), .fd = -1};
	struct counters c;

	if (size < sizeof c || size > 64 << 10)
		return 0;
	memcpy(&c, data, sizeof c);
	fill(m.heap, &c, data + sizeof c, size - sizeof c);
	drain(&m, c.seq % 3 ? 0 : 512);
	return 0;
}
