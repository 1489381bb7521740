#include "heap/drain.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "heap/live.h"
#include "heap/ranges.h"
#include "os/futex.h"

enum {
	BATCH = 128,        /* records that are read before the first of them is done */
	EVENTS = 2 * BATCH, /* the most that they come to                      */
	AHEAD = 16,         /* rings behind the last one in use that are looked at              */
	RATES = 256,
	NOBODY = -1,
};

/*
 * With a number that does not come: its thread may wait for a CPU among a
 * thousand others. Less than a guest's with a ring that stays full.
 */
#define PATIENCE (4 * AS_SECOND)
#define DOUBT    (20 * AS_MSEC) /* when it may be one that was left behind */

#define UNTOLD  UINT64_MAX
#define HIGHEST (UINT64_C(1) << 56) /* address                                 */
#define LARGEST (UINT64_C(1) << 48) /* size                                    */

/* A record that was read: an allocation of a kind, or a free. */
struct item {
	uint64_t address;
	uint32_t kind; /* its number; FREED: there is none */
	uint8_t rate;
};

#define FREED UINT32_MAX

/* One that is done at once: of a range. */
struct range {
	struct as_heap_kind kind;
	uint64_t address;
	uint8_t rate;
};

struct ring {
	struct as_wire_ring *wire;
	const uint8_t *bytes;
	uint32_t size;
	int32_t thread;      /* NOBODY: who uses it is not yet known */
	uint64_t tail, head; /* ours; what is between was written    */
	uint64_t seq;        /* of the record at `tail`              */
	uint64_t due;        /* of the next that does not tell its own; UNTOLD: not known */
	uint32_t *slot;      /* what each stands for: a kind + 1; NULL: none was told */
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
	uint64_t left;      /* the guest's, of which we know what came of them */
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
	struct as_heap_event event[EVENTS];
	size_t nbatch, nevents;
	struct ring ring[AS_WIRE_HEAP_RINGS];
};

/* Once for each event: a call would be a part of what it costs. */
#define HOT static inline __attribute__((always_inline))

/* What the table of addresses keeps of an allocation: its ordinal, and the number of its rate. */
static inline uint64_t which(uint64_t ordinal, uint8_t rate)
{
	return ordinal << 8 | rate;
}

static inline uint64_t ordinal_of(const struct as_live_entry *who)
{
	return who->which >> 8;
}

static inline uint64_t rate_of(const struct as_drain *d, const struct as_live_entry *who)
{
	return d->rate[who->which & 0xff];
}

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
	if (d->nevents == EVENTS)
		tell_events(d);
	return &d->event[d->nevents++];
}

/* Field by field where it belongs: what is put together elsewhere would be waited for. */
HOT void put_event(struct as_heap_event *to, enum as_heap_what what, const struct as_drain *d,
		   const struct as_live_entry *who, uint64_t bytes, uint64_t between)
{
	to->what = what;
	to->kind = who->kind;
	to->ordinal = ordinal_of(who);
	to->bytes = bytes;
	to->between = between;
	to->ns = d->ns;
	to->rate = rate_of(d, who);
}

HOT void put_freed(struct as_heap_event *to, const struct as_drain *d,
		   const struct as_live_entry *who, uint64_t bytes, bool last)
{
	const struct thread *t = &d->thread[d->is.kinds->kind[who->kind].thread];

	put_event(to, last ? AS_HEAP_FREE : AS_HEAP_CUT, d, who, bytes,
		  (uint32_t)(t->made - who->mark));
}

static void tell_freed(struct as_drain *d, const struct as_live_entry *who, uint64_t bytes,
		       bool last)
{
	put_freed(new_event(d), d, who, bytes, last);
}

/* UINT32_MAX for want of memory: the allocation is left out. */
static inline uint32_t kind_of(struct as_drain *d, const struct as_heap_kind *k)
{
	bool new;
	uint32_t n = as_kinds_number(d->is.kinds, k, &new);

	if (n != UINT32_MAX && !new)
		return n;
	if (n == UINT32_MAX || !as_tracker_kind(d->is.tracker, n, k)) {
		if (n != UINT32_MAX)
			as_kinds_drop(d->is.kinds);
		d->counts.incomplete = true;
		return UINT32_MAX;
	}
	if (d->is.sink)
		d->is.sink->kind(d->is.sink->arg, k);
	return n;
}

static inline struct as_live_entry new_entry(struct as_drain *d, uint64_t address, uint32_t kind,
					     uint8_t rate)
{
	struct thread *t = &d->thread[d->is.kinds->kind[kind].thread];

	return (struct as_live_entry){.address = address,
				      .which = which(d->ordinal++, rate),
				      .kind = kind,
				      .mark = ++t->made};
}

static inline uint64_t size_of(const struct as_drain *d, uint32_t kind)
{
	return d->is.kinds->kind[kind].size;
}

/* An address that is in use already: we were not told that it was given back. */
HOT struct as_heap_event *allocated(struct as_drain *d, const struct item *it,
				    struct as_heap_event *to)
{
	struct as_live_entry e = new_entry(d, it->address, it->kind, it->rate), was;

	if (!as_live_put(&d->live, e, &was))
		d->counts.incomplete = true;
	if (__builtin_expect(was.address != 0, 0))
		put_freed(to++, d, &was, size_of(d, was.kind), true);
	put_event(to, AS_HEAP_ALLOC, d, &e, size_of(d, it->kind), 0);
	return to + 1;
}

HOT struct as_heap_event *freed(struct as_drain *d, const struct item *it, struct as_heap_event *to)
{
	struct as_live_entry was;

	if (!as_live_take(&d->live, it->address, &was)) {
		d->counts.before++;
		return to;
	}
	put_freed(to, d, &was, size_of(d, was.kind), true);
	return to + 1;
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
static uint64_t end_of(const struct as_drain *d, const struct range *it)
{
	return (it->address + it->kind.size + d->is.page - 1) / d->is.page * d->is.page;
}

static void unmapped(struct as_drain *d, const struct range *it)
{
	uint64_t end = end_of(d, it);

	if (!as_ranges_unmap(&d->ranges, it->address, end, unmapped_piece, d) ||
	    !as_ranges_unmap(&d->reserved, it->address, end, forgotten_piece, NULL))
		d->counts.incomplete = true;
}

static void mapped(struct as_drain *d, const struct range *it)
{
	uint32_t kind;

	if (!it->kind.size)
		return;
	unmapped(d, it);
	kind = kind_of(d, &it->kind);
	if (kind == UINT32_MAX)
		return;
	struct as_live_entry e = new_entry(d, it->address, kind, it->rate);

	if (!as_ranges_map(&d->ranges, &e, it->address, it->address + it->kind.size))
		d->counts.incomplete = true;
	count_mapped(d, it->kind.op, (int64_t)it->kind.size);
	put_event(new_event(d), AS_HEAP_ALLOC, d, &e, it->kind.size, 0);
}

static void reserved(struct as_drain *d, const struct range *it)
{
	struct as_live_entry nobody = {0};

	unmapped(d, it);
	if (it->kind.size && !as_ranges_map(&d->reserved, &nobody, it->address, end_of(d, it)))
		d->counts.incomplete = true;
}

/* Only what was reserved is new. Of a sample none of it was left out. */
static void committed(struct as_drain *d, const struct range *it)
{
	struct range part = *it;
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

/* What each operation is: how long its record is, and what it does to a range. */
struct operation {
	uint8_t bytes;
	void (*range)(struct as_drain *d, const struct range *it);
};

static const struct operation operations[AS_WIRE_OPS] = {
	[AS_WIRE_OP_SKIP] = {8, NULL},
	[AS_WIRE_OP_TIME] = {sizeof(struct as_wire_time), NULL},
	[AS_WIRE_OP_RATE] = {sizeof(struct as_wire_time), NULL},
	[AS_WIRE_OP_NONE] = {8, NULL},
	[AS_WIRE_OP_AT] = {8, NULL},
	[AS_WIRE_OP_KIND] = {sizeof(struct as_wire_kind), NULL},
	[AS_WIRE_OP_SHORT] = {8, NULL},
	[AS_WIRE_OP_FREE] = {sizeof(struct as_wire_free), NULL},
	[AS_WIRE_OP_OBJECT_FREE] = {sizeof(struct as_wire_free), NULL},
	[AS_WIRE_OP_UNMAP] = {sizeof(struct as_wire_range), unmapped},
	[AS_WIRE_OP_RESERVE] = {sizeof(struct as_wire_range), reserved},
	[AS_WIRE_OP_MALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_CALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_REALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_ALIGNED] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_NEW] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_MMAP] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_BRK] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_MAP_FILE] = {sizeof(struct as_wire_alloc), mapped},
	[AS_WIRE_OP_OBJECT_MALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_OBJECT_CALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_OBJECT_REALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_COMMIT] = {sizeof(struct as_wire_alloc), committed},
};

/* There are no events that were not told. */
static void do_batch(struct as_drain *d)
{
	const struct item *end = &d->batch[d->nbatch];
	struct as_heap_event *to = d->event;

	for (const struct item *it = d->batch; it < end; it++)
		to = it->kind == FREED ? freed(d, it, to) : allocated(d, it, to);
	d->nbatch = 0;
	d->nevents = (size_t)(to - d->event);
	tell_events(d);
}

/* Times of threads differ by a tick; the events of a process are in order. */
static void come_to(struct as_drain *d, int64_t ns)
{
	if (ns <= d->ns)
		return;
	do_batch(d);
	d->ns = ns;
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

/* What was told of numbers and kinds is no longer so. */
static void forget_told(struct ring *r)
{
	free(r->slot);
	r->slot = NULL;
	r->due = UNTOLD;
}

/* Nothing there can be understood: what was written up to now is passed over. */
static bool spoiled(struct as_drain *d, struct ring *r, uint64_t head)
{
	d->counts.bad++;
	forget_told(r);
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

/* Of a record with a size at `from` and, if it allocates, nodes behind it. */
static void read_kind(struct as_drain *d, const struct ring *r, uint32_t op, const uint8_t *from,
		      struct as_heap_kind *ret)
{
	uint64_t nodes = op < AS_WIRE_OP_MALLOC ? 0 : as_mapping_word(from + 8);

	ret->size = as_mapping_word(from);
	ret->python = node(d, (uint32_t)nodes);
	ret->native = node(d, (uint32_t)(nodes >> 32));
	ret->thread = (uint32_t)r->thread;
	ret->op = op;
}

static bool is_heap(uint64_t op)
{
	return op >= AS_WIRE_OP_MALLOC && op < AS_WIRE_OPS && !operations[op].range;
}

/* A slot stands for another kind from now on, or for nothing that makes sense. */
static void set_slot(struct as_drain *d, struct ring *r)
{
	uint64_t first = as_mapping_word(record(r)) & AS_WIRE_SEQ_MASK, op = first >> 16;
	struct as_heap_kind k;

	if (!r->slot)
		r->slot = as_zalloc_n(AS_WIRE_SLOTS, sizeof *r->slot);
	if (!r->slot || (r->thread == NOBODY && !claim(d, r))) {
		d->counts.incomplete = true;
		return;
	}
	uint32_t *slot = &r->slot[first % AS_WIRE_SLOTS];

	*slot = 0;
	if (is_heap(op))
		read_kind(d, r, (uint32_t)op, record(r) + 8, &k);
	if (is_heap(op) && k.size < LARGEST)
		*slot = kind_of(d, &k) + 1;
	else
		d->counts.bad++;
}

/* A record without a number; false: it is none of these. */
static bool aside(struct as_drain *d, struct ring *r, uint8_t op)
{
	uint64_t value =
		op == AS_WIRE_OP_TIME || op == AS_WIRE_OP_RATE ? as_mapping_word(record(r) + 8) : 0;

	switch (op) {
	case AS_WIRE_OP_AT:
		r->due = as_mapping_word(record(r)) & AS_WIRE_SEQ_MASK;
		r->tail += operations[op].bytes;
		return true;
	case AS_WIRE_OP_KIND:
		set_slot(d, r);
		r->tail += operations[op].bytes;
		return true;
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

static bool is_short(uint64_t first)
{
	return first & AS_WIRE_SHORT;
}

/* The operation of what begins so; 0: there is none such. */
static uint8_t op_of(uint64_t first)
{
	uint64_t op = is_short(first) ? AS_WIRE_OP_SHORT : first >> AS_WIRE_OP_SHIFT;

	return op < AS_WIRE_OPS && (op != AS_WIRE_OP_SHORT || is_short(first)) ? (uint8_t)op : 0;
}

/* Is there a record with a number? Then `seq` and `op` are its. */
static bool peek(struct as_drain *d, struct ring *r)
{
	for (size_t i = 0; i < AS_DRAIN_ONCE; i++) {
		if (r->tail == r->head && !refill(d, r))
			return false;
		uint64_t first = as_mapping_word(record(r)), left = r->head - r->tail;
		uint8_t op = op_of(first);

		if (op == AS_WIRE_OP_SKIP ? left < until_end(r)
					  : !operations[op].bytes || operations[op].bytes > left ||
						    operations[op].bytes > until_end(r))
			return spoiled(d, r, r->head);
		if (aside(d, r, op))
			continue;
		r->seq = op != AS_WIRE_OP_SHORT ? first & AS_WIRE_SEQ_MASK
			 : r->due == UNTOLD     ? d->next
						: r->due;
		r->op = op;
		return true;
	}
	return false;
}

/* For later: so long its place in the table has to come. */
HOT void put_off(struct as_drain *d, const struct as_live *live, uint64_t address, uint32_t kind,
		 uint8_t rate)
{
	as_live_hint(live, address);
	d->batch[d->nbatch++] = (struct item){address, kind, rate};
}

/* One word; false: it makes no sense. */
HOT bool take_word(struct as_drain *d, const struct ring *r, const struct as_live *live,
		   uint64_t word)
{
	uint64_t address = word & AS_WIRE_SHORT_ADDRESS;
	uint32_t slot = word >> AS_WIRE_SLOT_SHIFT & (AS_WIRE_SLOTS - 1), kind = FREED;

	if (word & AS_WIRE_SHORT_ALLOC)
		kind = r->slot && r->slot[slot] ? r->slot[slot] - 1 : FREED;
	if (!address || (word & AS_WIRE_SHORT_ALLOC && kind == FREED))
		return false;
	put_off(d, live, address, kind, r->rate);
	return true;
}

static void take_whole_alloc(struct as_drain *d, const struct ring *r, const uint8_t *from,
			     uint64_t address)
{
	struct as_heap_kind k;

	read_kind(d, r, r->op, from + 16, &k);
	uint32_t kind = k.size < LARGEST ? kind_of(d, &k) : UINT32_MAX;

	if (k.size >= LARGEST)
		d->counts.bad++;
	if (kind != UINT32_MAX)
		put_off(d, &d->live, address, kind, r->rate);
}

static void take_range(struct as_drain *d, const struct ring *r, const uint8_t *from,
		       uint64_t address)
{
	struct range it = {.address = address, .rate = r->rate};

	read_kind(d, r, r->op, from + 16, &it.kind);
	do_batch(d);
	if (it.kind.size < LARGEST)
		operations[r->op].range(d, &it);
	else
		d->counts.bad++;
	tell_events(d);
}

/* One that tells its number. */
static void take_whole(struct as_drain *d, const struct ring *r)
{
	uint64_t address = as_mapping_word(record(r) + 8);

	if (address - 1 >= HIGHEST - 1)
		d->counts.bad++;
	else if (operations[r->op].range)
		take_range(d, r, record(r), address);
	else if (r->op >= AS_WIRE_OP_MALLOC)
		take_whole_alloc(d, r, record(r), address);
	else
		put_off(d, &d->live, address, FREED, r->rate);
}

/* The record that was peeked at. */
static void take_one(struct as_drain *d, struct ring *r)
{
	if (r->op != AS_WIRE_OP_NONE && (r->thread != NOBODY || claim(d, r))) {
		come_to(d, r->ns);
		if (r->op != AS_WIRE_OP_SHORT)
			take_whole(d, r);
		else if (!take_word(d, r, &d->live, as_mapping_word(record(r))))
			d->counts.bad++;
	}
	r->tail += operations[r->op].bytes;
	r->due = r->seq + 1;
	d->counts.records++;
	d->next++;
}

/* Those of one word that follow, in one piece: their numbers do, too. */
static void take_row(struct as_drain *d, struct ring *r)
{
	uint64_t left = r->head - r->tail, end = until_end(r);
	const uint8_t *first = record(r), *from = first, *last = first + (left < end ? left : end);
	const struct as_live live = d->live; /* as it is while nothing is done */

	for (; d->nbatch < BATCH && from < last; from += sizeof(uint64_t)) {
		uint64_t word = as_mapping_word(from);

		if (!is_short(word))
			break;
		if (!take_word(d, r, &live, word))
			d->counts.bad++;
	}
	uint64_t n = (uint64_t)(from - first) / sizeof(uint64_t);

	r->tail += n * sizeof(uint64_t);
	r->due += n;
	d->counts.records += n;
	d->next += n;
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
	forget_told(r);
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

static uint64_t left_behind(const struct as_drain *d)
{
	return atomic_load_explicit(&d->is.mapping->heap->left, memory_order_relaxed);
}

/* The lowest number is not the one that is due. True: it is now. */
static bool pass_gap(struct as_drain *d, const struct ring *r, bool over)
{
	if (!d->gap_since)
		d->gap_since = d->now_ns;
	bool doubt = left_behind(d) != d->left;
	if (!over && d->now_ns - d->gap_since < (doubt ? DOUBT : PATIENCE))
		return false;
	d->left += doubt;
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
	r->due = r->seq + 1;
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
	if (!over && !d->nqueue && as_drain_empty(d)) {
		d->left = left_behind(d);
		return 0;
	}
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
				   .due = UNTOLD,
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
	for (size_t i = 0; i < AS_WIRE_HEAP_RINGS; i++)
		free(d->ring[i].slot);
	free(d->thread);
	free(d);
}

const struct as_drain_counts *as_drain_counts(const struct as_drain *d)
{
	return &d->counts;
}
