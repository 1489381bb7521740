#include "heap/drain.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "heap/live.h"
#include "heap/ranges.h"
#include "os/futex.h"

enum {
	BATCH = 128, /* records that are read before the first of them is done; and events */
	AHEAD = 16,  /* rings behind the last one in use that are looked at              */
	RATES = 256,
	NOBODY = -1,
};

/*
 * With a number that does not come: its thread may wait for a CPU among a
 * thousand others. Less than a guest's with a ring that stays full.
 */
#define PATIENCE (4 * AS_SECOND)

#define HIGHEST (UINT64_C(1) << 56) /* address                                 */
#define LARGEST (UINT64_C(1) << 48) /* size                                    */

/* A record that was read. Of a free there is no kind. */
struct item {
	struct as_heap_kind kind;
	uint64_t address;
	int64_t ns;
	uint8_t op, rate;
};

struct ring {
	struct as_wire_ring *wire;
	const uint8_t *bytes;
	uint32_t size;
	int32_t thread;      /* NOBODY: who uses it is not yet known */
	uint64_t tail, head; /* ours; what is between was written    */
	uint64_t seq;        /* of the record at `tail`              */
	int64_t ns;
	uint8_t op, rate;
	bool queued;
};

struct thread {
	uint32_t made; /* allocations; wraps */
	bool claimed;  /* it has a ring, or had */
};

struct as_drain {
	struct as_drain_config is;
	struct as_drain_counts counts;
	struct as_live live;
	struct as_ranges ranges, reserved; /* mapped; and mapped without access */

	uint64_t next;      /* the number that is waited for           */
	int64_t gap_since;  /* 0: it is not late                       */
	int64_t now_ns, ns; /* ns: of the last event                  */
	uint64_t ordinal;
	uint32_t nnodes;      /* of the guest's tree, so far             */
	uint64_t rate[RATES]; /* [0] is 0: nothing was left out         */
	size_t nrates;
	struct thread *thread;
	size_t thread_cap;

	uint16_t queue[AS_WIRE_HEAP_RINGS]; /* a heap: rings with a record, by number */
	size_t nqueue, nrings;              /* nrings: those behind were never used    */
	struct item batch[BATCH];
	struct as_heap_event event[BATCH];
	size_t nbatch, nevents;
	struct ring ring[AS_WIRE_HEAP_RINGS];
};

/* Once for each event: a call would be a part of what it costs. */
#define HOT static inline __attribute__((always_inline))

/* --- events ------------------------------------------------------------------ */

/* Each step for many events at once: what it needs stays at hand. */
static void tell_events(struct as_drain *d)
{
	if (d->nevents && !as_tracker_events(d->is.tracker, d->event, d->nevents))
		d->counts.incomplete = true;
	if (d->nevents && d->is.sink)
		d->is.sink->events(d->is.sink->arg, d->event, d->nevents);
	d->nevents = 0;
}

static inline struct as_heap_event *new_event(struct as_drain *d)
{
	if (d->nevents == BATCH)
		tell_events(d);
	return &d->event[d->nevents++];
}

static inline void tell_freed(struct as_drain *d, const struct as_live_entry *who, uint64_t bytes,
			      bool last)
{
	const struct as_heap_kind *k = &d->is.kinds->kind[who->kind];

	*new_event(d) =
		(struct as_heap_event){.what = last ? AS_HEAP_FREE : AS_HEAP_CUT,
				       .kind = who->kind,
				       .ordinal = who->ordinal,
				       .bytes = bytes,
				       .between = (uint32_t)(d->thread[k->thread].made - who->mark),
				       .ns = d->ns,
				       .rate = d->rate[who->rate]};
}

/* UINT32_MAX for want of memory: the allocation is left out. */
static inline uint32_t kind_of(struct as_drain *d, const struct item *it)
{
	bool new;
	uint32_t n = as_kinds_number(d->is.kinds, &it->kind, &new);

	if (!new)
		return n;
	if (!as_tracker_kind(d->is.tracker, n, &it->kind)) {
		as_kinds_drop(d->is.kinds);
		return UINT32_MAX;
	}
	if (d->is.sink)
		d->is.sink->kind(d->is.sink->arg, &it->kind);
	return n;
}

static inline bool new_entry(struct as_drain *d, const struct item *it, struct as_live_entry *ret)
{
	uint32_t kind = kind_of(d, it);

	if (kind == UINT32_MAX) {
		d->counts.incomplete = true;
		return false;
	}
	*ret = (struct as_live_entry){.address = it->address,
				      .ordinal = d->ordinal++,
				      .rate = it->rate,
				      .kind = kind,
				      .mark = ++d->thread[it->kind.thread].made};
	return true;
}

static inline void tell_made(struct as_drain *d, const struct as_live_entry *who, uint64_t size)
{
	*new_event(d) = (struct as_heap_event){.what = AS_HEAP_ALLOC,
					       .kind = who->kind,
					       .ordinal = who->ordinal,
					       .bytes = size,
					       .ns = d->ns,
					       .rate = d->rate[who->rate]};
}

/* An address that is in use already: we were not told that it was given back. */
HOT void allocated(struct as_drain *d, const struct item *it)
{
	struct as_live_entry e, was;

	if (!new_entry(d, it, &e))
		return;
	if (!as_live_put(&d->live, &e, &was))
		d->counts.incomplete = true;
	if (was.address)
		tell_freed(d, &was, d->is.kinds->kind[was.kind].size, true);
	tell_made(d, &e, it->kind.size);
}

HOT void freed(struct as_drain *d, const struct item *it)
{
	struct as_live_entry was;

	if (as_live_take(&d->live, it->address, &was))
		tell_freed(d, &was, d->is.kinds->kind[was.kind].size, true);
	else
		d->counts.before++;
}

/* What is held of files is known at each moment: it is no memory of the program's own. */
static void count_mapped(struct as_drain *d, uint32_t op, int64_t bytes)
{
	if (op == AS_WIRE_OP_MAP_FILE)
		d->counts.mapped = (int64_t)((uint64_t)d->counts.mapped + (uint64_t)bytes);
}

static void unmapped_piece(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	struct as_drain *d = arg;

	count_mapped(d, d->is.kinds->kind[who->kind].op, -(int64_t)bytes);
	tell_freed(d, who, bytes, last);
}

static void forgotten_piece(void *arg, const struct as_live_entry *who, uint64_t bytes, bool last)
{
	(void)arg, (void)who, (void)bytes, (void)last;
}

/* The kernel does everything by whole pages. */
static uint64_t end_of(const struct as_drain *d, const struct item *it)
{
	return (it->address + it->kind.size + d->is.page - 1) / d->is.page * d->is.page;
}

static void unmapped(struct as_drain *d, const struct item *it)
{
	uint64_t end = end_of(d, it);

	if (!as_ranges_unmap(&d->ranges, it->address, end, unmapped_piece, d) ||
	    !as_ranges_unmap(&d->reserved, it->address, end, forgotten_piece, NULL))
		d->counts.incomplete = true;
}

static void mapped(struct as_drain *d, const struct item *it)
{
	struct as_live_entry e;

	if (!it->kind.size)
		return;
	unmapped(d, it);
	if (!new_entry(d, it, &e))
		return;
	if (!as_ranges_map(&d->ranges, &e, it->address, it->address + it->kind.size))
		d->counts.incomplete = true;
	count_mapped(d, it->kind.op, (int64_t)it->kind.size);
	tell_made(d, &e, it->kind.size);
}

static void reserved(struct as_drain *d, const struct item *it)
{
	struct as_live_entry nobody = {0};

	unmapped(d, it);
	if (it->kind.size && !as_ranges_map(&d->reserved, &nobody, it->address, end_of(d, it)))
		d->counts.incomplete = true;
}

/* Only what was reserved is new. Of a sample none of it was left out. */
static void committed(struct as_drain *d, const struct item *it)
{
	struct item part = *it;
	struct as_ranges_piece p;

	part.rate = 0;
	while (as_ranges_first(&d->reserved, it->address, end_of(d, it), &p)) {
		part.address = p.start;
		part.kind.size = p.end - p.start;
		mapped(d, &part);
		if (d->counts.incomplete)
			return;
	}
}

/* What each operation is: how long its record is, and what it does. */
struct operation {
	uint8_t bytes;
	void (*apply)(struct as_drain *d, const struct item *it);
};

static const struct operation operations[AS_WIRE_OPS] = {
	[AS_WIRE_OP_SKIP] = {8, NULL},
	[AS_WIRE_OP_TIME] = {sizeof(struct as_wire_time), NULL},
	[AS_WIRE_OP_RATE] = {sizeof(struct as_wire_time), NULL},
	[AS_WIRE_OP_NONE] = {8, NULL},
	[AS_WIRE_OP_FREE] = {sizeof(struct as_wire_free), freed},
	[AS_WIRE_OP_OBJECT_FREE] = {sizeof(struct as_wire_free), freed},
	[AS_WIRE_OP_UNMAP] = {sizeof(struct as_wire_range), unmapped},
	[AS_WIRE_OP_RESERVE] = {sizeof(struct as_wire_range), reserved},
	[AS_WIRE_OP_MALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_CALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_REALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_ALIGNED] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_NEW] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_MMAP] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_BRK] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_MAP_FILE] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_OBJECT_MALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_OBJECT_CALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_OBJECT_REALLOC] = {sizeof(struct as_wire_alloc), allocated},
	[AS_WIRE_OP_COMMIT] = {sizeof(struct as_wire_alloc), committed},
};

/* Nearly all are one of two, and those are not called but done here. */
HOT void apply(struct as_drain *d, const struct item *it)
{
	const struct operation *o = &operations[it->op];

	if (o->apply == freed)
		freed(d, it);
	else if (o->apply == allocated)
		allocated(d, it);
	else
		o->apply(d, it);
}

/* Times of threads differ by a tick; the events of a process are in order. */
static void do_batch(struct as_drain *d)
{
	const struct item *end = &d->batch[d->nbatch];

	for (const struct item *it = d->batch; it < end; it++) {
		if (it->ns > d->ns)
			d->ns = it->ns;
		apply(d, it);
	}
	d->nbatch = 0;
	tell_events(d);
}

/* --- threads and rates --------------------------------------------------------- */

/* Threads that a note has named are there already. */
static bool find_thread(struct as_drain *d, uint32_t tid, uint32_t *ret)
{
	const struct as_heap_names *n = d->is.names;

	for (size_t i = n->nthreads; i-- > 0;)
		if (n->thread[i].tid == tid && (!tid || !d->thread[i].claimed)) {
			*ret = (uint32_t)i;
			return true;
		}
	return false;
}

static bool add_thread(struct as_drain *d, uint32_t tid, uint32_t *ret)
{
	struct as_heap_names *n = d->is.names;

	if (!as_grow(&n->thread, &n->thread_cap, n->nthreads, sizeof *n->thread, 16))
		return false;
	*ret = (uint32_t)n->nthreads;
	n->thread[n->nthreads++] = (struct as_heap_thread){.tid = tid};
	return true;
}

/* As many as there are names for, and one more. */
static bool thread_room(struct as_drain *d)
{
	while (d->thread_cap <= d->is.names->nthreads) {
		size_t had = d->thread_cap;

		if (!as_grow(&d->thread, &d->thread_cap, had, sizeof *d->thread, 16))
			return false;
		memset(d->thread + had, 0, (d->thread_cap - had) * sizeof *d->thread);
	}
	return true;
}

/* Who writes to a ring. Those that are too many to tell apart, or have none, are thread 0. */
static bool claim(struct as_drain *d, struct ring *r)
{
	uint32_t tid = r == d->ring ? 0 : atomic_load_explicit(&r->wire->tid, memory_order_relaxed);
	uint32_t at;

	if (d->is.names->nthreads >= AS_FOLLOW_THREADS)
		tid = 0;
	if (!thread_room(d) || (!find_thread(d, tid, &at) && !add_thread(d, tid, &at))) {
		d->counts.incomplete = true;
		return false;
	}
	d->thread[at].claimed = true;
	r->thread = (int32_t)at;
	return true;
}

/* The number of a rate. There are not many: each is twice the one before. */
static uint8_t rate_number(struct as_drain *d, uint64_t rate)
{
	size_t i = 0;

	while (i < d->nrates && d->rate[i] != rate)
		i++;
	if (i == RATES) {
		d->counts.bad++;
		return RATES - 1;
	}
	if (i == d->nrates)
		d->rate[d->nrates++] = rate;
	return (uint8_t)i;
}

/* --- one ring ------------------------------------------------------------------ */

static const uint8_t *record(const struct ring *r)
{
	return r->bytes + (r->tail & (r->size - 1));
}

static uint64_t until_end(const struct ring *r)
{
	return r->size - (r->tail & (r->size - 1));
}

static void give_room(struct ring *r)
{
	atomic_store_explicit(&r->wire->tail, r->tail, memory_order_seq_cst);
	if (!atomic_load_explicit(&r->wire->wanted, memory_order_seq_cst))
		return;
	atomic_fetch_add_explicit(&r->wire->room, 1, memory_order_seq_cst);
	as_futex_wake(&r->wire->room);
}

/* Nothing there can be understood: what was written up to now is passed over. */
static bool spoiled(struct as_drain *d, struct ring *r, uint64_t head)
{
	d->counts.bad++;
	r->tail = r->head = head & ~UINT64_C(7);
	give_room(r);
	return false;
}

static bool refill(struct as_drain *d, struct ring *r)
{
	uint64_t head = atomic_load_explicit(&r->wire->head, memory_order_acquire);

	if (head - r->tail > r->size || head % 8)
		return spoiled(d, r, head);
	r->head = head;
	return head != r->tail;
}

/* A record without a number; false: it is none of these. */
static bool aside(struct as_drain *d, struct ring *r, uint8_t op)
{
	uint64_t value =
		op == AS_WIRE_OP_TIME || op == AS_WIRE_OP_RATE ? as_mapping_word(record(r) + 8) : 0;

	switch (op) {
	case AS_WIRE_OP_SKIP:
		r->tail = (r->tail | (r->size - 1)) + 1;
		return true;
	case AS_WIRE_OP_TIME:
		r->ns = value < (uint64_t)d->now_ns ? (int64_t)value : d->now_ns;
		r->tail += sizeof(struct as_wire_time);
		return true;
	case AS_WIRE_OP_RATE:
		if (d->is.sample)
			r->rate = rate_number(d, value);
		else
			d->counts.bad++;
		r->tail += sizeof(struct as_wire_time);
		return true;
	default:
		return false;
	}
}

/* Is there a record with a number? Then `seq` and `op` are its. */
static bool peek(struct as_drain *d, struct ring *r)
{
	for (size_t i = 0; i < AS_DRAIN_ONCE; i++) {
		if (r->tail == r->head && !refill(d, r))
			return false;
		uint64_t first = as_mapping_word(record(r)), left = r->head - r->tail;
		uint8_t op = (uint8_t)(first >> AS_WIRE_OP_SHIFT);

		if (op == AS_WIRE_OP_SKIP ? left < until_end(r)
					  : op >= AS_WIRE_OPS || !operations[op].bytes ||
						    operations[op].bytes > left ||
						    operations[op].bytes > until_end(r))
			return spoiled(d, r, r->head);
		if (aside(d, r, op))
			continue;
		r->seq = first & AS_WIRE_SEQ_MASK;
		r->op = op;
		return true;
	}
	return false;
}

/* How many are there is asked again only when there seem to be too few. */
static bool is_node(struct as_drain *d, uint32_t n)
{
	if (n >= d->nnodes)
		d->nnodes =
			atomic_load_explicit(&d->is.mapping->heap->nnodes, memory_order_acquire);
	if (d->nnodes > AS_WIRE_NODES)
		d->nnodes = AS_WIRE_NODES;
	return n < d->nnodes;
}

/* A node that is not there (yet) would be read by nobody. */
static inline uint32_t node(struct as_drain *d, uint32_t n)
{
	if (n < d->nnodes || !n || is_node(d, n))
		return n;
	d->counts.bad++;
	return 0;
}

static inline void read_kind(struct as_drain *d, const struct ring *r, uint8_t op,
			     const uint8_t *from, struct as_heap_kind *ret)
{
	uint64_t nodes = op < AS_WIRE_OP_MALLOC ? 0 : as_mapping_word(from + 24);

	ret->size = as_mapping_word(from + 16);
	ret->python = node(d, (uint32_t)nodes);
	ret->native = node(d, (uint32_t)(nodes >> 32));
	ret->thread = (uint32_t)r->thread;
	ret->op = op;
}

/* False: it makes no sense, and the next one is read where it would have been. */
HOT bool read_record(struct as_drain *d, const struct ring *r, uint8_t op, const uint8_t *from,
		     struct item *it)
{
	uint64_t address = as_mapping_word(from + 8);

	it->address = address;
	it->ns = r->ns;
	it->op = op;
	it->rate = r->rate;
	if (operations[op].apply != freed) {
		read_kind(d, r, op, from, &it->kind);
		address |= it->kind.size >= LARGEST ? HIGHEST : 0;
	}
	if (address - 1 < HIGHEST - 1)
		return true;
	d->counts.bad++;
	return false;
}

/* The record that was peeked at. */
static void take_one(struct as_drain *d, struct ring *r)
{
	struct item *it = &d->batch[d->nbatch];

	if (r->op != AS_WIRE_OP_NONE && (r->thread != NOBODY || claim(d, r)) &&
	    read_record(d, r, r->op, record(r), it)) {
		as_live_hint(&d->live, it->address);
		d->nbatch++;
	}
	r->tail += operations[r->op].bytes;
	d->counts.records++;
	d->next++;
}

/* Those that follow: in one piece, with the number that is due, and events. */
static void take_row(struct as_drain *d, struct ring *r)
{
	uint64_t left = r->head - r->tail, end = until_end(r), next = d->next;
	const uint8_t *first = record(r), *from = first, *last = first + (left < end ? left : end);
	const struct as_live live = d->live; /* as it is while nothing is done */
	struct item *it = &d->batch[d->nbatch];

	while (it < &d->batch[BATCH] && last - from >= (ptrdiff_t)sizeof(struct as_wire_alloc)) {
		uint64_t op = as_mapping_word(from) ^ next; /* above the number: it is gone */

		if (op & AS_WIRE_SEQ_MASK)
			break;
		op >>= AS_WIRE_OP_SHIFT;
		if (op >= AS_WIRE_OPS || !operations[op].apply)
			break;
		if (read_record(d, r, (uint8_t)op, from, it)) {
			as_live_hint(&live, it->address);
			it++;
		}
		from += operations[op].bytes;
		next++;
	}
	d->nbatch = (size_t)(it - d->batch);
	r->tail += (uint64_t)(from - first);
	d->counts.records += next - d->next;
	d->next = next;
}

/* The record at its tail, and those whose numbers follow. */
static void take_run(struct as_drain *d, struct ring *r)
{
	uint64_t most = d->counts.records + AS_DRAIN_ONCE;

	do {
		take_one(d, r);
		if (r->thread != NOBODY)
			take_row(d, r);
		if (d->nbatch < BATCH)
			continue;
		give_room(r);
		do_batch(d);
	} while (d->counts.records < most && peek(d, r) && r->seq == d->next);
	give_room(r);
}

/* --- all rings: a heap of those that have a record, the lowest number first ----------- */

static bool before(const struct as_drain *d, size_t a, size_t b)
{
	return d->ring[d->queue[a]].seq < d->ring[d->queue[b]].seq;
}

static void swap(struct as_drain *d, size_t a, size_t b)
{
	uint16_t t = d->queue[a];

	d->queue[a] = d->queue[b];
	d->queue[b] = t;
}

static void enqueue(struct as_drain *d, struct ring *r)
{
	size_t i = d->nqueue++;

	r->queued = true;
	d->queue[i] = (uint16_t)(r - d->ring);
	for (; i && before(d, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(d, i, (i - 1) / 2);
}

static void sink_down(struct as_drain *d)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < d->nqueue; i = child) {
		if (child + 1 < d->nqueue && before(d, child + 1, child))
			child++;
		if (!before(d, child, i))
			return;
		swap(d, i, child);
	}
}

static void dequeue(struct as_drain *d)
{
	d->ring[d->queue[0]].queued = false;
	d->queue[0] = d->queue[--d->nqueue];
	sink_down(d);
}

/* A thread that has ended and left nothing more: its ring is free for another. */
static void release(struct ring *r)
{
	give_room(r);
	r->thread = NOBODY;
	r->ns = 0;
	atomic_store_explicit(&r->wire->state, AS_WIRE_RING_FREE, memory_order_release);
}

/* True: it has a record that it had not before. */
static bool look_at(struct as_drain *d, struct ring *r)
{
	uint32_t state = atomic_load_explicit(&r->wire->state, memory_order_acquire);

	if (state != AS_WIRE_RING_FREE && (size_t)(r - d->ring) >= d->nrings)
		d->nrings = (size_t)(r - d->ring) + 1;
	if (r->queued)
		return false;
	if (peek(d, r)) {
		enqueue(d, r);
		return true;
	}
	if (state == AS_WIRE_RING_ENDED)
		release(r);
	return false;
}

/* Guests take the first ring that is free, so those in use are not far apart. */
static bool look(struct as_drain *d)
{
	bool some = false;

	for (size_t i = 0; i < d->nrings + AHEAD && i < AS_WIRE_HEAP_RINGS; i++)
		some |= look_at(d, &d->ring[i]);
	return some;
}

/* The lowest number is not the one that is due. True: it is now. */
static bool pass_gap(struct as_drain *d, const struct ring *r, bool over)
{
	if (!d->gap_since)
		d->gap_since = d->now_ns;
	if (!over && d->now_ns - d->gap_since < PATIENCE)
		return false;
	d->counts.lost += r->seq - d->next;
	d->next = r->seq;
	d->gap_since = 0;
	return true;
}

static void drop_late(struct as_drain *d, struct ring *r)
{
	d->counts.records++;
	d->counts.lost++;
	r->tail += operations[r->op].bytes;
	give_room(r);
}

/* Is the lowest number not higher than the one that is due? */
static bool due(const struct as_drain *d)
{
	return d->ring[d->queue[0]].seq <= d->next;
}

/* The ring with the lowest number, as far as it goes. False: it has to wait. */
static bool run_first(struct as_drain *d, bool over)
{
	if (!due(d) && !(look(d) && due(d)) && !pass_gap(d, &d->ring[d->queue[0]], over))
		return false;
	struct ring *r = &d->ring[d->queue[0]];

	dequeue(d);
	if (r->seq < d->next)
		drop_late(d, r);
	else
		take_run(d, r);
	if (peek(d, r))
		enqueue(d, r);
	return true;
}

bool as_drain_empty(const struct as_drain *d)
{
	return atomic_load_explicit(&d->is.mapping->heap->seq, memory_order_acquire) == d->next;
}

size_t as_drain_run(struct as_drain *d, int64_t now_ns, bool over)
{
	uint64_t before_it = d->counts.records;

	d->now_ns = now_ns;
	if (!over && !d->nqueue && as_drain_empty(d))
		return 0;
	(void)look(d);
	while (d->nqueue && d->counts.records - before_it < AS_DRAIN_ONCE) {
		uint64_t had = d->next;

		if (!run_first(d, over))
			break;
		if (d->next != had)
			d->gap_since = 0;
	}
	do_batch(d);
	d->counts.allocations = d->ordinal;
	return d->counts.records - before_it;
}

/* --- life ---------------------------------------------------------------------- */

static void init_ring(struct as_drain *d, uint32_t i)
{
	struct as_wire_heap *heap = d->is.mapping->heap;

	d->ring[i] = (struct ring){.wire = &heap->ring[i],
				   .bytes = (const uint8_t *)heap + as_mapping_ring_at(i),
				   .size = (uint32_t)as_mapping_ring_size(i),
				   .rate = d->is.sample ? 1 : 0,
				   .thread = NOBODY};
}

struct as_drain *as_drain_new(const struct as_drain_config *config, struct as_err *err)
{
	struct as_drain *d = as_zalloc(sizeof *d);

	if (!d) {
		(void)as_fail(err, AS_ENOMEM, "no memory to follow a heap");
		return NULL;
	}
	d->is = *config;
	d->ns = config->start_ns;
	d->nrates = 1;
	if (config->sample)
		d->rate[d->nrates++] = config->sample;
	for (uint32_t i = 0; i < AS_WIRE_HEAP_RINGS; i++)
		init_ring(d, i);
	return d;
}

void as_drain_free(struct as_drain *d)
{
	if (!d)
		return;
	as_live_done(&d->live);
	as_ranges_done(&d->ranges);
	as_ranges_done(&d->reserved);
	free(d->thread);
	free(d);
}

const struct as_drain_counts *as_drain_counts(const struct as_drain *d)
{
	return &d->counts;
}
