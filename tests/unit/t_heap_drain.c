#include "heap/drain.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "fake_guest.h"
#include "heap_plain.h"
#include "utest.h"

enum { THREADS = 5, SLOTS = 300, ROUNDS = 60000 };

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* --- a process, and all events that came of it ------------------------------- */

struct rig {
	struct as_mapping mapping;
	struct fake_guest guest;
	struct as_tracker *tracker;
	struct as_heap_names names;
	struct as_kinds kinds;
	struct as_drain *drain;
	struct as_deeds_sink sink;
	struct as_drain_counts counts;
	struct as_heap_kind *kind;
	struct as_heap_event *event;
	size_t nkinds, nevents, kind_cap, event_cap;
};

static void on_kind(void *arg, const struct as_heap_kind *k)
{
	struct rig *r = arg;

	if (r->nkinds == r->kind_cap)
		r->kind = realloc(r->kind, (r->kind_cap = r->kind_cap * 2 + 64) * sizeof *k);
	r->kind[r->nkinds++] = *k;
}

static void on_event(void *arg, const struct as_heap_event *e)
{
	struct rig *r = arg;

	if (r->nevents == r->event_cap)
		r->event = realloc(r->event, (r->event_cap = r->event_cap * 2 + 64) * sizeof *e);
	r->event[r->nevents++] = *e;
}

static void on_batch(void *arg, const struct as_heap_batch *b)
{
	const struct rig *r = arg;

	for (size_t i = 0; i < b->n; i++) {
		struct as_heap_event e = event_of(&b->at[i], r->kind[b->at[i].kind].size, b->ns);

		on_event(arg, &e);
	}
}

static void open_rig(struct rig *r, uint64_t sample)
{
	struct as_err err;

	*r = (struct rig){.mapping.fd = -1};
	EXPECT_OK(as_mapping_open(&r->mapping, &err), err);
	r->guest.heap = r->mapping.heap;
	r->tracker = as_tracker_new(1, NULL, &err);
	r->sink = (struct as_deeds_sink){on_kind, on_event, on_batch, r};
	r->drain = as_drain_new(&(struct as_drain_config){.mapping = &r->mapping,
							  .names = &r->names,
							  .deeds = {.tracker = r->tracker,
								    .sink = &r->sink,
								    .kinds = &r->kinds,
								    .sample = sample,
								    .page = 4096,
								    .start_ns = 5}},
				&err);
	EXPECT(r->tracker && r->drain);
}

static void close_rig(struct rig *r)
{
	as_drain_free(r->drain);
	as_tracker_free(r->tracker);
	as_kinds_done(&r->kinds);
	as_heap_names_done(&r->names);
	as_mapping_close(&r->mapping);
	free(r->kind);
	free(r->event);
}

static size_t drain(struct rig *r, int64_t now, bool over)
{
	size_t n, all = 0;

	while ((n = as_drain_run(r->drain, now, over)))
		all += n;
	return all;
}

static const struct as_drain_counts *counts(struct rig *r)
{
	as_drain_counts(r->drain, &r->counts);
	return &r->counts;
}

static void expect_event(const struct rig *r, size_t i, enum as_heap_what what, uint64_t ordinal,
			 uint64_t bytes)
{
	EXPECT(i < r->nevents);
	EXPECT_I64(r->event[i].what, what);
	EXPECT_U64(r->event[i].ordinal, ordinal);
	EXPECT_U64(r->event[i].bytes, bytes);
}

/* --- in the order of numbers --------------------------------------------------- */

/* What each address holds, and what must come of it, as the program itself knows. */
struct program {
	struct {
		uint64_t ordinal, size, mark;
		uint32_t thread;
	} slot[SLOTS];
	struct as_heap_event *want;
	size_t nwant;
	uint64_t ordinal, made[THREADS];
};

static uint32_t ring_of(uint32_t thread)
{
	return thread ? 12 + thread : 0; /* some wide, some narrow */
}

/* In one word or as a whole, as it comes; slots stand for one kind after the other. */
static void tell_alloc(struct rig *r, uint32_t ring, uint64_t address, uint64_t size)
{
	if (size % 3) {
		fake_kind(&r->guest, ring, size % 7, AS_WIRE_OP_MALLOC, size);
		fake_word_alloc(&r->guest, ring, size % 7, address);
	} else {
		fake_alloc(&r->guest, ring, AS_WIRE_OP_MALLOC, address, size);
	}
}

static void tell_free(struct rig *r, uint32_t ring, uint64_t address, uint64_t size)
{
	if (size % 5)
		fake_word_free(&r->guest, ring, address);
	else
		fake_free(&r->guest, ring, address);
}

static void act(struct rig *r, struct program *p, uint32_t thread, uint64_t i, uint64_t size)
{
	struct as_heap_event *e = &p->want[p->nwant++];
	uint64_t address = 4096 + i * 64;
	uint32_t owner = p->slot[i].thread;

	if (p->slot[i].size) {
		*e = (struct as_heap_event){AS_HEAP_FREE, 0, p->slot[i].ordinal, p->slot[i].size,
					    p->made[owner] - p->slot[i].mark};
		tell_free(r, ring_of(thread), address, p->slot[i].size);
		p->slot[i].size = 0;
		return;
	}
	*e = (struct as_heap_event){AS_HEAP_ALLOC, 0, p->ordinal, size};
	tell_alloc(r, ring_of(thread), address, size);
	p->slot[i].ordinal = p->ordinal++;
	p->slot[i].size = size;
	p->slot[i].thread = thread;
	p->slot[i].mark = ++p->made[thread];
}

static void same_events(const struct rig *r, const struct program *p)
{
	EXPECT_U64(r->nevents, p->nwant);
	for (size_t i = 0; i < p->nwant; i++) {
		expect_event(r, i, p->want[i].what, p->want[i].ordinal, p->want[i].bytes);
		EXPECT_U64(r->event[i].between, p->want[i].between);
		EXPECT_U64(r->kind[r->event[i].kind].size, p->want[i].bytes);
	}
}

static void publish_some(struct rig *r, uint64_t *seed)
{
	for (uint32_t t = 0; t < THREADS; t++)
		if (next(seed) % 2 || !fake_room(&r->guest, ring_of(t)))
			fake_publish(&r->guest, ring_of(t));
}

/* Threads publish when they like; rings wrap many times. */
static void t_events_come_in_the_order_of_numbers(void)
{
	struct rig r;
	struct program p = {.want = calloc(ROUNDS, sizeof *p.want)};
	uint64_t seed = 99;

	open_rig(&r, 0);
	for (uint32_t t = 0; t < THREADS; t++)
		fake_use(&r.guest, ring_of(t), 100 + t);
	for (size_t i = 0; i < ROUNDS; i++) {
		uint32_t t = next(&seed) % THREADS;

		if (i % 97 == 0 || !fake_room(&r.guest, ring_of(t))) {
			publish_some(&r, &seed);
			(void)drain(&r, 10, false);
		}
		EXPECT(fake_room(&r.guest, ring_of(t)));
		act(&r, &p, t, next(&seed) % SLOTS, 1 + next(&seed) % 50);
	}
	for (uint32_t t = 0; t < THREADS; t++)
		fake_publish(&r.guest, ring_of(t));
	(void)drain(&r, 10, false);
	EXPECT(as_drain_empty(r.drain));
	same_events(&r, &p);
	EXPECT_U64(counts(&r)->lost, 0);
	EXPECT_U64(counts(&r)->bad, 0);
	EXPECT_U64(r.names.nthreads, THREADS);
	close_rig(&r);
	free(p.want);
}

static void t_a_missing_number_is_waited_for_and_then_lost(void)
{
	struct rig r;

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_use(&r.guest, 2, 8);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 1);
	fake_alloc(&r.guest, 2, AS_WIRE_OP_MALLOC, 32, 2);
	fake_alloc(&r.guest, 2, AS_WIRE_OP_MALLOC, 48, 3);
	fake_publish(&r.guest, 2);
	EXPECT_U64(drain(&r, 10, false), 0);
	EXPECT_U64(drain(&r, 4 * AS_SECOND, false), 0);
	EXPECT_U64(drain(&r, 10 + 4 * AS_SECOND, false), 2);
	EXPECT_U64(counts(&r)->lost, 1);
	fake_publish(&r.guest, 1); /* it comes after all */
	(void)drain(&r, 11 + 4 * AS_SECOND, true);
	EXPECT_U64(counts(&r)->lost, 2);
	EXPECT_U64(r.nevents, 2);
	fake_free(&r.guest, 1, 48);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 12 + 4 * AS_SECOND, false);
	expect_event(&r, 2, AS_HEAP_FREE, 1, 3);
	close_rig(&r);
}

static void t_the_dead_are_not_waited_for(void)
{
	struct rig r;

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	(void)fake_number(&r.guest);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 1);
	(void)fake_number(&r.guest);
	fake_free(&r.guest, 1, 16);
	fake_publish(&r.guest, 1);
	EXPECT_U64(drain(&r, 10, true), 2);
	EXPECT_U64(counts(&r)->lost, 2);
	EXPECT_U64(r.nevents, 2);
	close_rig(&r);
}

/* --- what records mean ----------------------------------------------------------- */

static void t_mappings_are_given_back_in_parts(void)
{
	struct rig r;

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MMAP, 0x10000, 5000);
	fake_unmap(&r.guest, 1, 0x10000, 1); /* a whole page of it */
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MMAP, 0x10000, 8192);
	fake_unmap(&r.guest, 1, 0x10000, 8192);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(r.nevents, 5);
	expect_event(&r, 0, AS_HEAP_ALLOC, 0, 5000);
	expect_event(&r, 1, AS_HEAP_CUT, 0, 4096);
	expect_event(&r, 2, AS_HEAP_FREE, 0, 904);
	expect_event(&r, 3, AS_HEAP_ALLOC, 1, 8192);
	expect_event(&r, 4, AS_HEAP_FREE, 1, 8192);
	close_rig(&r);
}

static void t_an_address_that_is_taken_twice_was_free_between(void)
{
	struct rig r;

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 64, 10);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_NEW, 64, 20);
	fake_free(&r.guest, 1, 128); /* from before us */
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(r.nevents, 3);
	expect_event(&r, 1, AS_HEAP_FREE, 0, 10);
	expect_event(&r, 2, AS_HEAP_ALLOC, 1, 20);
	EXPECT_U64(r.kind[1].op, AS_WIRE_OP_NEW);
	close_rig(&r);
}

static void t_times_and_rates_hold_for_what_follows(void)
{
	struct rig r;

	open_rig(&r, 1000);
	fake_use(&r.guest, 1, 7);
	fake_use(&r.guest, 2, 8);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 1);
	fake_say(&r.guest, 1, AS_WIRE_OP_TIME, 70);
	fake_say(&r.guest, 1, AS_WIRE_OP_RATE, 2000);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 32, 1);
	fake_say(&r.guest, 2, AS_WIRE_OP_TIME, 60); /* a tick behind */
	fake_free(&r.guest, 2, 16);
	fake_say(&r.guest, 2, AS_WIRE_OP_TIME, UINT64_MAX); /* the future */
	fake_free(&r.guest, 2, 32);
	fake_publish(&r.guest, 1);
	fake_publish(&r.guest, 2);
	(void)drain(&r, 100, false);
	EXPECT_U64(r.nevents, 4);
	static const int64_t ns[] = {5, 70, 70, 100};
	static const uint64_t rate[] = {1000, 2000, 1000, 2000};
	for (size_t i = 0; i < 4; i++) {
		EXPECT_I64(r.event[i].ns, ns[i]);
		EXPECT_U64(r.event[i].rate, rate[i]);
	}
	close_rig(&r);
}

/* Of those that live only, and of a sample. */
static void t_samples_are_thinned(void)
{
	struct rig r;

	open_rig(&r, 1000);
	fake_use(&r.guest, 1, 7);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 11);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 32, 12);
	fake_thin(&r.guest, 1, 16, 4000);
	fake_thin(&r.guest, 1, 32, 0);
	fake_thin(&r.guest, 1, 32, 4000); /* nothing is known of it any more */
	fake_thin(&r.guest, 1, 48, 4000);
	fake_free(&r.guest, 1, 16);
	fake_free(&r.guest, 1, 32);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(r.nevents, 5);
	expect_event(&r, 2, AS_HEAP_THINNED, 0, 11);
	expect_event(&r, 3, AS_HEAP_THINNED, 1, 12);
	expect_event(&r, 4, AS_HEAP_FREE, 0, 11);
	static const uint64_t rate[] = {1000, 1000, 1000, 1000, 4000};
	static const uint64_t becomes[] = {0, 0, 4000, 0, 0};
	for (size_t i = 0; i < 5; i++) {
		EXPECT_U64(r.event[i].rate, rate[i]);
		EXPECT_U64(r.event[i].becomes, becomes[i]);
	}
	close_rig(&r);
	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 11);
	fake_thin(&r.guest, 1, 16, 0);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(r.nevents, 1);
	close_rig(&r);
}

static void t_a_ring_is_used_by_one_thread_after_another(void)
{
	struct rig r;

	open_rig(&r, 0);
	for (uint32_t i = 0; i < 3; i++) {
		fake_use(&r.guest, 5, 50 + i);
		fake_alloc(&r.guest, 5, AS_WIRE_OP_MALLOC, 16 + i * 16, 1);
		fake_publish(&r.guest, 5);
		atomic_store(&r.mapping.heap->ring[5].state, AS_WIRE_RING_ENDED);
		(void)drain(&r, 10, false);
		(void)as_drain_run(r.drain, 10, true);
		EXPECT_U64(atomic_load(&r.mapping.heap->ring[5].state), AS_WIRE_RING_FREE);
	}
	EXPECT_U64(r.names.nthreads, 3);
	EXPECT_U64(r.names.thread[2].tid, 52);
	EXPECT_U64(r.kind[2].thread, 2);
	close_rig(&r);
}

/* What a slot stands for is forgotten with its thread, and when a ring cannot be understood. */
static void t_a_slot_stands_for_what_was_told(void)
{
	struct rig r;
	uint64_t junk = fake_first(77, 0);

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_kind(&r.guest, 1, 4095, AS_WIRE_OP_OBJECT_MALLOC, 11);
	fake_word_alloc(&r.guest, 1, 4095, 16);
	fake_kind(&r.guest, 1, 4095, AS_WIRE_OP_CALLOC, 13);
	fake_word_alloc(&r.guest, 1, 4095, 32);
	fake_word_alloc(&r.guest, 1, 1, 48); /* nothing */
	fake_kind(&r.guest, 1, 4095, AS_WIRE_OP_MMAP, 17);
	fake_word_alloc(&r.guest, 1, 4095, 64); /* no word is for that */
	fake_word_free(&r.guest, 1, 16);
	fake_publish(&r.guest, 1);
	EXPECT_U64(drain(&r, 10, false), 5);
	EXPECT_U64(counts(&r)->bad, 3);
	EXPECT_U64(r.nevents, 3);
	expect_event(&r, 0, AS_HEAP_ALLOC, 0, 11);
	expect_event(&r, 1, AS_HEAP_ALLOC, 1, 13);
	expect_event(&r, 2, AS_HEAP_FREE, 0, 11);
	EXPECT_U64(r.kind[0].op, AS_WIRE_OP_OBJECT_MALLOC);
	fake_kind(&r.guest, 1, 2, AS_WIRE_OP_MALLOC, 19);
	fake_write(&r.guest, 1, &junk, sizeof junk);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, true);
	fake_word_alloc(&r.guest, 1, 2, 80);
	fake_word_free(&r.guest, 1, 32);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(counts(&r)->bad, 5); /* the junk, and a slot that was told before it */
	EXPECT_U64(r.nevents, 4);
	EXPECT_U64(counts(&r)->lost, 0);
	close_rig(&r);
}

static void t_the_next_thread_has_slots_of_its_own(void)
{
	struct rig r;

	open_rig(&r, 0);
	for (uint32_t i = 0; i < 2; i++) {
		fake_use(&r.guest, 5, 50 + i);
		if (!i)
			fake_kind(&r.guest, 5, 3, AS_WIRE_OP_MALLOC, 11);
		fake_word_alloc(&r.guest, 5, 3, 16 + i * 16);
		fake_publish(&r.guest, 5);
		atomic_store(&r.mapping.heap->ring[5].state, AS_WIRE_RING_ENDED);
		(void)drain(&r, 10, false);
		(void)as_drain_run(r.drain, 10, true);
	}
	EXPECT_U64(r.nevents, 1);
	EXPECT_U64(counts(&r)->bad, 1);
	close_rig(&r);
}

/* --- what makes no sense ----------------------------------------------------------- */

static void t_nonsense_is_counted_and_the_rest_goes_on(void)
{
	struct rig r;
	uint64_t junk = fake_first(77, 0);

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	fake_use(&r.guest, 2, 8);
	fake_write(&r.guest, 1, &junk, sizeof junk);
	fake_alloc(&r.guest, 2, AS_WIRE_OP_MALLOC, 0, 8);           /* nowhere       */
	fake_alloc(&r.guest, 2, AS_WIRE_OP_MALLOC, 16, UINT64_MAX); /* too large     */
	fake_alloc(&r.guest, 2, AS_WIRE_OP_MALLOC, 16, 8);
	fake_publish(&r.guest, 1);
	fake_publish(&r.guest, 2);
	(void)drain(&r, 10, false);
	EXPECT_U64(counts(&r)->bad, 3);
	EXPECT_U64(r.nevents, 1);
	atomic_store(&r.mapping.heap->ring[1].head, UINT64_C(1) << 40);
	fake_free(&r.guest, 2, 16);
	fake_publish(&r.guest, 2);
	(void)drain(&r, 10, false);
	EXPECT_U64(counts(&r)->bad, 4);
	EXPECT_U64(r.nevents, 2);
	EXPECT_U64(atomic_load(&r.mapping.heap->ring[1].tail), UINT64_C(1) << 40);
	close_rig(&r);
}

static void t_a_stack_that_is_not_there_is_no_stack(void)
{
	struct rig r;
	struct as_wire_alloc a = {0, 16, 8, 1, 2};

	open_rig(&r, 0);
	fake_use(&r.guest, 1, 7);
	atomic_store(&r.mapping.heap->nnodes, 2);
	a.seq_op = fake_first(AS_WIRE_OP_MALLOC, fake_number(&r.guest));
	fake_write(&r.guest, 1, &a, sizeof a);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	EXPECT_U64(r.kind[0].python, 1);
	EXPECT_U64(r.kind[0].native, 0);
	EXPECT_U64(counts(&r)->bad, 1);
	close_rig(&r);
}

/* --- names ------------------------------------------------------------------------- */

static void note_code(struct rig *r, const char *name, const char *file, uint32_t more)
{
	struct {
		struct as_wire_code c;
		char text[40];
	} n = {.c = {.first_line = 3,
		     .flags = more ? 0 : 0x83,
		     .name = (uint32_t)strlen(name),
		     .file = (uint32_t)strlen(file),
		     .table = more}};
	int len = snprintf(n.text, sizeof n.text, "%s%s", name, file);

	fake_note(&r->guest, AS_WIRE_NOTE_CODE, &n, (uint32_t)(sizeof n.c + (size_t)len));
}

static void note_module(struct rig *r, uint32_t kind, uint64_t start, uint64_t seq)
{
	struct {
		struct as_wire_module m;
		char path[8];
	} n = {{start, start + 100, 5, seq}, "/a/b.so"};

	fake_note(&r->guest, kind, &n, sizeof n.m + 7);
}

static void t_names_are_copied_when_they_are_complete(void)
{
	struct rig r;
	struct as_follow f = {0};
	struct as_wire_node *node;
	uint32_t thread[6] = {7, 0, 0x1000, 0, 0x64636261, 0x68676665};

	open_rig(&r, 0);
	node = (void *)((char *)r.mapping.heap + r.mapping.heap->nodes_at);
	node[1] = (struct as_wire_node){0x1234, 0, 0};
	node[2] = (struct as_wire_node){0x5678, 1, 0};
	node[3] = (struct as_wire_node){0x9abc, 3, 0};
	atomic_store(&r.mapping.heap->nnodes, 3);
	note_code(&r, "f", "a.py", 0);
	note_code(&r, "g", "b.py", 9); /* longer than it is */
	note_code(&r, "h", "c.py", 0);
	note_module(&r, AS_WIRE_NOTE_MODULE, 1000, 4);
	note_module(&r, AS_WIRE_NOTE_UNLOAD, 1000, 9);
	note_module(&r, AS_WIRE_NOTE_MODULE, 1000, 11);
	fake_note(&r.guest, AS_WIRE_NOTE_THREAD, thread, sizeof thread);
	as_follow(&f, &r.mapping, &r.names);
	EXPECT_U64(r.names.nnodes, 3);
	EXPECT_U64(r.names.node[2].key, 0x5678);
	EXPECT_U64(r.names.node[2].caller, 1);
	EXPECT_U64(r.names.ncodes, 3);
	EXPECT_STR(r.names.code[0].name, "f");
	EXPECT_STR(r.names.code[1].name, NULL);
	EXPECT_STR(r.names.code[2].file, "c.py");
	EXPECT_I64(r.names.code[2].first_line, 3);
	EXPECT(r.names.code[2].coroutine && !r.names.code[1].coroutine);
	EXPECT_U64(r.names.nmodules, 2);
	EXPECT_STR(r.names.module[0].path, "/a/b.so");
	EXPECT_U64(r.names.module[0].until, 9);
	EXPECT_U64(r.names.module[1].until, 0);
	EXPECT_U64(f.bad, 1);
	atomic_store(&r.mapping.heap->nnodes, 4);
	fake_use(&r.guest, 1, 7);
	fake_alloc(&r.guest, 1, AS_WIRE_OP_MALLOC, 16, 1);
	fake_publish(&r.guest, 1);
	(void)drain(&r, 10, false);
	as_follow(&f, &r.mapping, &r.names);
	EXPECT_U64(r.names.nnodes, 4);
	EXPECT_U64(r.names.node[3].caller, 0);
	EXPECT_U64(f.bad, 2);
	EXPECT_U64(r.names.nthreads, 1);
	EXPECT_STR(r.names.thread[0].name, "abcdefgh");
	close_rig(&r);
}

/* A writer that waits goes on when half of its ring is free, and is not woken again for more. */
static void t_who_waits_is_woken_once(void)
{
	struct rig r;
	struct as_wire_ring *ring;
	size_t n = 0;

	open_rig(&r, 0);
	ring = &r.guest.heap->ring[1];
	fake_use(&r.guest, 1, 101);
	fake_kind(&r.guest, 1, 7, AS_WIRE_OP_MALLOC, 16);
	for (; fake_room(&r.guest, 1); n++)
		n % 2 ? fake_word_free(&r.guest, 1, 0x10000)
		      : fake_word_alloc(&r.guest, 1, 7, 0x10000);
	fake_publish(&r.guest, 1);
	atomic_store(&ring->wanted, 1);
	EXPECT_U64(drain(&r, 10, false), n);
	EXPECT(n > 20 * AS_DEEDS_BATCH);
	EXPECT_U64(atomic_load(&ring->room), 1);
	EXPECT_U64(atomic_load(&ring->wanted), 0);
	close_rig(&r);
}

UTEST_MAIN(T(t_events_come_in_the_order_of_numbers),
	   T(t_a_missing_number_is_waited_for_and_then_lost), T(t_the_dead_are_not_waited_for),
	   T(t_mappings_are_given_back_in_parts),
	   T(t_an_address_that_is_taken_twice_was_free_between),
	   T(t_times_and_rates_hold_for_what_follows), T(t_samples_are_thinned),
	   T(t_a_ring_is_used_by_one_thread_after_another), T(t_a_slot_stands_for_what_was_told),
	   T(t_the_next_thread_has_slots_of_its_own), T(t_nonsense_is_counted_and_the_rest_goes_on),
	   T(t_a_stack_that_is_not_there_is_no_stack), T(t_names_are_copied_when_they_are_complete),
	   T(t_who_waits_is_woken_once))
