#include "heap/ring.h"

#include "base/fault.h"
#include "os/futex.h"

#define HIGHEST (UINT64_C(1) << 56) /* address                                 */
#define LARGEST (UINT64_C(1) << 48) /* size                                    */

/* What each operation is: how long its record is, and what it does to a range. */
struct operation {
	uint8_t bytes;
	as_deed_range_fn *range;
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
	[AS_WIRE_OP_UNMAP] = {sizeof(struct as_wire_range), as_deed_unmap},
	[AS_WIRE_OP_RESERVE] = {sizeof(struct as_wire_range), as_deed_reserve},
	[AS_WIRE_OP_THIN] = {sizeof(struct as_wire_range), as_deed_thin},
	[AS_WIRE_OP_MALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_CALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_REALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_ALIGNED] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_NEW] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_MMAP] = {sizeof(struct as_wire_alloc), as_deed_map},
	[AS_WIRE_OP_BRK] = {sizeof(struct as_wire_alloc), as_deed_map},
	[AS_WIRE_OP_MAP_FILE] = {sizeof(struct as_wire_alloc), as_deed_map},
	[AS_WIRE_OP_ARENA] = {sizeof(struct as_wire_alloc), as_deed_map},
	[AS_WIRE_OP_OBJECT_MALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_OBJECT_CALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_OBJECT_REALLOC] = {sizeof(struct as_wire_alloc), NULL},
	[AS_WIRE_OP_COMMIT] = {sizeof(struct as_wire_alloc), as_deed_commit},
};

/* --- where it is ------------------------------------------------------------------ */

static const uint8_t *record(const struct as_ring *r)
{
	return r->bytes + (r->tail & (r->size - 1));
}

static uint64_t until_end(const struct as_ring *r)
{
	return r->size - (r->tail & (r->size - 1));
}

static void tell_tail(struct as_ring *r)
{
	atomic_store_explicit(&r->wire->tail, r->tail, memory_order_seq_cst);
}

/* Who waits for room is woken once: to wake is a system call, here and there. */
static void wake_writer(struct as_ring *r)
{
	if (!atomic_load_explicit(&r->wire->wanted, memory_order_seq_cst))
		return;
	atomic_store_explicit(&r->wire->wanted, 0, memory_order_seq_cst);
	atomic_fetch_add_explicit(&r->wire->room, 1, memory_order_seq_cst);
	as_futex_wake(&r->wire->room);
}

static void give_room(struct as_ring *r)
{
	tell_tail(r);
	wake_writer(r);
}

/* More is read at once: who waits goes on when there is room for more than a moment. */
static void give_some_room(struct as_ring *r)
{
	tell_tail(r);
	if (r->head - r->tail <= r->size / 2)
		wake_writer(r);
}

/* What was told of numbers and kinds is no longer so. */
static void forget_told(struct as_ring *r)
{
	free(r->tag);
	r->tag = NULL;
	r->due = AS_RING_UNTOLD;
}

/* Nothing there can be understood: what was written up to now is passed over. */
static bool spoiled(struct as_reading *all, struct as_ring *r, uint64_t head)
{
	all->bad++;
	forget_told(r);
	r->tail = r->head = head & ~UINT64_C(7);
	give_room(r);
	return false;
}

static bool refill(struct as_reading *all, struct as_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->wire->head, memory_order_acquire);

	if (head - r->tail > r->size || head % 8)
		return spoiled(all, r, head);
	r->head = head;
	return head != r->tail;
}

/* --- kinds ------------------------------------------------------------------------ */

/* Who writes to it. Ring 0 is of those that have none. */
static bool claim(struct as_reading *all, struct as_ring *r)
{
	uint32_t tid = r->number ? atomic_load_explicit(&r->wire->tid, memory_order_relaxed) : 0;
	uint32_t at;

	if (!as_writers_claim(&all->writers, tid, &at) || !as_deeds_thread(&all->deeds, at)) {
		all->deeds.incomplete = true;
		return false;
	}
	r->thread = (int32_t)at;
	return true;
}

/* How many are there is asked again only when there seem to be too few. */
static bool is_node(struct as_reading *all, uint32_t n)
{
	if (n >= all->nnodes)
		all->nnodes =
			atomic_load_explicit(&all->mapping->heap->nnodes, memory_order_acquire);
	if (all->nnodes > AS_WIRE_NODES)
		all->nnodes = AS_WIRE_NODES;
	return n < all->nnodes;
}

/* A node that is not there (yet) would be read by nobody. */
static inline uint32_t node(struct as_reading *all, uint32_t n)
{
	if (n < all->nnodes || !n || is_node(all, n))
		return n;
	all->bad++;
	return 0;
}

/* Of a record with a size at `from` and, if it allocates, nodes behind it. */
static void read_kind(struct as_reading *all, const struct as_ring *r, uint32_t op,
		      const uint8_t *from, struct as_heap_kind *ret)
{
	uint64_t nodes = op < AS_WIRE_OP_MALLOC ? 0 : as_mapping_word(from + 8);

	ret->size = as_mapping_word(from);
	ret->python = node(all, (uint32_t)nodes);
	ret->native = node(all, (uint32_t)(nodes >> 32));
	ret->thread = (uint32_t)r->thread;
	ret->op = op;
}

static bool is_heap(uint64_t op)
{
	return op >= AS_WIRE_OP_MALLOC && op < AS_WIRE_OPS && !operations[op].range;
}

static bool has_tags(struct as_ring *r)
{
	if (r->tag)
		return true;
	r->tag = as_zalloc_n(AS_RING_TAGS, sizeof *r->tag);
	if (r->tag)
		r->tag[AS_RING_FREES] = AS_RING_FREE;
	return r->tag;
}

/* A slot stands for another kind from now on, or for nothing that makes sense. */
static void set_slot(struct as_reading *all, struct as_ring *r)
{
	uint64_t first = as_mapping_word(record(r)) & AS_WIRE_SEQ_MASK, op = first >> 16;
	struct as_heap_kind k;

	if (!has_tags(r) || (r->thread == AS_RING_NOBODY && !claim(all, r))) {
		all->deeds.incomplete = true;
		return;
	}
	uint32_t *tag = &r->tag[AS_RING_SLOTS + first % AS_WIRE_SLOTS];

	*tag = 0;
	if (is_heap(op))
		read_kind(all, r, (uint32_t)op, record(r) + 8, &k);
	if (is_heap(op) && k.size < LARGEST)
		*tag = as_deeds_kind(&all->deeds, &k) + AS_RING_KIND;
	else
		all->bad++;
}

/* --- what has no number ------------------------------------------------------------- */

static void set_rate(struct as_reading *all, struct as_ring *r, uint64_t rate)
{
	int number = all->deeds.is.sample ? as_deeds_rate(&all->deeds, rate) : -1;

	if (number < 0)
		all->bad++;
	else
		r->rate = (uint8_t)number;
}

/* A record without a number; false: it is none of these. */
static bool aside(struct as_reading *all, struct as_ring *r, uint8_t op)
{
	uint64_t value =
		op == AS_WIRE_OP_TIME || op == AS_WIRE_OP_RATE ? as_mapping_word(record(r) + 8) : 0;

	switch (op) {
	case AS_WIRE_OP_AT:
		r->due = as_mapping_word(record(r)) & AS_WIRE_SEQ_MASK;
		break;
	case AS_WIRE_OP_KIND:
		set_slot(all, r);
		break;
	case AS_WIRE_OP_SKIP:
		r->tail = (r->tail | (r->size - 1)) + 1;
		return true;
	case AS_WIRE_OP_TIME:
		r->ns = value < (uint64_t)all->now_ns ? (int64_t)value : all->now_ns;
		break;
	case AS_WIRE_OP_RATE:
		set_rate(all, r, value);
		break;
	default:
		return false;
	}
	r->tail += operations[op].bytes;
	return true;
}

/* --- the next record ---------------------------------------------------------------- */

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

/* Is all of it there, in one piece? */
static bool is_whole(const struct as_ring *r, uint8_t op)
{
	uint64_t left = r->head - r->tail, bytes = operations[op].bytes;

	if (op == AS_WIRE_OP_SKIP)
		return left >= until_end(r);
	return bytes && bytes <= left && bytes <= until_end(r);
}

bool as_ring_peek(struct as_reading *all, struct as_ring *r)
{
	for (size_t i = 0; i < AS_RING_ONCE; i++) {
		if (r->tail == r->head && !refill(all, r))
			return false;
		uint64_t first = as_mapping_word(record(r));
		uint8_t op = op_of(first);

		if (!is_whole(r, op))
			return spoiled(all, r, r->head);
		if (aside(all, r, op))
			continue;
		r->seq = op != AS_WIRE_OP_SHORT     ? first & AS_WIRE_SEQ_MASK
			 : r->due == AS_RING_UNTOLD ? all->next
						    : r->due;
		r->op = op;
		return true;
	}
	return false;
}

/*
 * Records of one word, in one piece, as many as there is room for: where they end.
 * Whether it is an allocation or a free is no branch here: it could not be guessed.
 */
static const uint8_t *take_words(struct as_reading *all, const struct as_ring *r,
				 const uint8_t *from, const uint8_t *end)
{
	struct as_deeds *d = &all->deeds;
	struct as_deed *to = d->batch + d->n;
	const uint32_t *tag = r->tag;
	size_t room = (AS_DEEDS_BATCH - d->n) * sizeof(uint64_t);
	uint32_t rate = r->rate;

	if ((size_t)(end - from) > room)
		end = from + room;
	for (; from < end; from += sizeof(uint64_t)) {
		uint64_t word = as_mapping_word(from), address = word & AS_WIRE_SHORT_ADDRESS;
		uint32_t what = tag[word >> AS_WIRE_SLOT_SHIFT];
		struct as_live_entry *at = as_live_near(&d->live, address);

		if (__builtin_expect(!what, 0)) {
			if (!is_short(word))
				break;
			all->bad++;
			continue;
		}
		if (__builtin_expect(!at, 0)) {
			if (!address) {
				all->bad++;
				continue;
			}
			at = as_live_far(&d->live, address);
		}
		*to++ = (struct as_deed){address, at, what - AS_RING_KIND, rate};
	}
	d->n = (size_t)(to - d->batch);
	return from;
}

static void take_alloc(struct as_reading *all, const struct as_ring *r, const uint8_t *from,
		       uint64_t address)
{
	struct as_deeds *d = &all->deeds;
	struct as_heap_kind k;

	read_kind(all, r, r->op, from + 16, &k);
	uint32_t kind = k.size < LARGEST ? as_deeds_kind(d, &k) : UINT32_MAX;

	if (k.size >= LARGEST)
		all->bad++;
	if (kind != UINT32_MAX)
		as_deeds_add(d, address, kind, r->rate);
}

static void take_range(struct as_reading *all, const struct as_ring *r, const uint8_t *from,
		       uint64_t address)
{
	struct as_deed_range range = {.address = address, .rate = r->rate};

	read_kind(all, r, r->op, from + 16, &range.kind);
	if (range.kind.size < LARGEST)
		operations[r->op].range(&all->deeds, &range);
	else
		all->bad++;
}

/* One that tells its number. */
static void take_whole(struct as_reading *all, const struct as_ring *r)
{
	uint64_t address = as_mapping_word(record(r) + 8);

	if (address - 1 >= HIGHEST - 1)
		all->bad++;
	else if (operations[r->op].range)
		take_range(all, r, record(r), address);
	else if (r->op >= AS_WIRE_OP_MALLOC)
		take_alloc(all, r, record(r), address);
	else
		as_deeds_add(&all->deeds, address, AS_DEED_FREED, r->rate);
}

static void pass(struct as_reading *all, struct as_ring *r)
{
	r->tail += operations[r->op].bytes;
	r->due = r->seq + 1;
	all->records++;
}

/* The record that was peeked at. */
static void take_one(struct as_reading *all, struct as_ring *r)
{
	const uint8_t *from = record(r);

	if (r->op != AS_WIRE_OP_NONE && (r->thread != AS_RING_NOBODY || claim(all, r))) {
		as_deeds_come_to(&all->deeds, r->ns);
		if (r->op != AS_WIRE_OP_SHORT)
			take_whole(all, r);
		else if (has_tags(r))
			(void)take_words(all, r, from, from + sizeof(uint64_t));
		else
			all->deeds.incomplete = true;
	}
	pass(all, r);
	all->next++;
}

/* Those of one word that follow: their numbers do, too. */
static void take_row(struct as_reading *all, struct as_ring *r)
{
	uint64_t left = r->head - r->tail, end = until_end(r);
	const uint8_t *first = record(r);
	uint64_t bytes = (uint64_t)(take_words(all, r, first, first + (left < end ? left : end)) -
				    first),
		 n = bytes / sizeof(uint64_t);

	r->tail += bytes;
	r->due += n;
	all->records += n;
	all->next += n;
}

void as_ring_take(struct as_reading *all, struct as_ring *r)
{
	uint64_t most = all->records + AS_RING_ONCE;

	do {
		take_one(all, r);
		if (r->thread != AS_RING_NOBODY && r->tag)
			take_row(all, r);
		if (all->deeds.n < AS_DEEDS_BATCH)
			continue;
		give_some_room(r);
		as_deeds_do(&all->deeds);
	} while (all->records < most && as_ring_peek(all, r) && r->seq == all->next);
	give_room(r);
}

void as_ring_pass(struct as_reading *all, struct as_ring *r)
{
	pass(all, r);
	give_room(r);
}

/* --- life --------------------------------------------------------------------------- */

void as_ring_init(struct as_ring *r, const struct as_reading *all, uint32_t number)
{
	struct as_wire_heap *heap = all->mapping->heap;

	*r = (struct as_ring){.wire = &heap->ring[number],
			      .bytes = (const uint8_t *)heap + as_mapping_ring_at(number),
			      .number = number,
			      .size = (uint32_t)as_mapping_ring_size(number),
			      .rate = all->deeds.is.sample ? 1 : 0,
			      .due = AS_RING_UNTOLD,
			      .thread = AS_RING_NOBODY};
}

void as_ring_release(struct as_ring *r)
{
	give_room(r);
	forget_told(r);
	r->thread = AS_RING_NOBODY;
	r->ns = 0;
	atomic_store_explicit(&r->wire->state, AS_WIRE_RING_FREE, memory_order_release);
}

void as_ring_done(struct as_ring *r)
{
	free(r->tag);
	r->tag = NULL;
}
