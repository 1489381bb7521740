#pragma once
/*
 * fake_guest -- writes records to a mapping as a guest would, from one thread
 * that plays them all.
 */
#include <stdbool.h>
#include <string.h>

#include "heap/mapping.h"

struct fake_guest {
	struct as_wire_heap *heap;
	uint64_t head[AS_WIRE_HEAP_RINGS]; /* written, perhaps not yet published */
	uint64_t due[AS_WIRE_HEAP_RINGS];  /* the number after that of the last word */
};

static inline void *fake_at(struct fake_guest *g, uint32_t ring)
{
	size_t size = as_mapping_ring_size(ring);

	return (char *)g->heap + as_mapping_ring_at(ring) + g->head[ring] % size;
}

static inline void fake_use(struct fake_guest *g, uint32_t ring, uint32_t tid)
{
	atomic_store(&g->heap->ring[ring].tid, tid);
	atomic_store(&g->heap->ring[ring].state, AS_WIRE_RING_USED);
}

/* Is there room for one record, whatever its length? */
static inline bool fake_room(struct fake_guest *g, uint32_t ring)
{
	uint64_t used = g->head[ring] - atomic_load(&g->heap->ring[ring].tail);

	return used + 2 * sizeof(struct as_wire_alloc) + 16 <= as_mapping_ring_size(ring);
}

static inline void fake_write(struct fake_guest *g, uint32_t ring, const void *record, size_t n)
{
	size_t size = as_mapping_ring_size(ring), left = size - g->head[ring] % size;
	uint64_t skip = (uint64_t)AS_WIRE_OP_SKIP << AS_WIRE_OP_SHIFT;

	if (left < n) {
		memcpy(fake_at(g, ring), &skip, sizeof skip);
		g->head[ring] += left;
	}
	memcpy(fake_at(g, ring), record, n);
	g->head[ring] += n;
}

static inline void fake_publish(struct fake_guest *g, uint32_t ring)
{
	atomic_store(&g->heap->ring[ring].head, g->head[ring]);
}

static inline uint64_t fake_number(struct fake_guest *g)
{
	return atomic_fetch_add(&g->heap->seq, 1);
}

static inline uint64_t fake_first(enum as_wire_op op, uint64_t number)
{
	return (uint64_t)op << AS_WIRE_OP_SHIFT | number;
}

/* The number of a record in that ring: the next word has the one after it. */
static inline uint64_t fake_next(struct fake_guest *g, uint32_t ring)
{
	uint64_t number = fake_number(g);

	g->due[ring] = number + 1;
	return number;
}

static inline void fake_alloc(struct fake_guest *g, uint32_t ring, enum as_wire_op op,
			      uint64_t address, uint64_t size)
{
	struct as_wire_alloc r = {fake_first(op, fake_next(g, ring)), address, size, 0, 0};

	fake_write(g, ring, &r, sizeof r);
}

static inline void fake_free(struct fake_guest *g, uint32_t ring, uint64_t address)
{
	struct as_wire_free r = {fake_first(AS_WIRE_OP_FREE, fake_next(g, ring)), address};

	fake_write(g, ring, &r, sizeof r);
}

/* --- in one word ------------------------------------------------------------ */

static inline void fake_kind(struct fake_guest *g, uint32_t ring, uint32_t slot, enum as_wire_op op,
			     uint64_t size)
{
	struct as_wire_kind r = {fake_first(AS_WIRE_OP_KIND, (uint64_t)op << 16 | slot), size, 0,
				 0};

	fake_write(g, ring, &r, sizeof r);
}

/* After its number, if that does not follow. */
static inline void fake_word(struct fake_guest *g, uint32_t ring, uint64_t word)
{
	uint64_t due = g->due[ring], number = fake_next(g, ring),
		 at = fake_first(AS_WIRE_OP_AT, number);

	if (due != number || !number)
		fake_write(g, ring, &at, sizeof at);
	fake_write(g, ring, &word, sizeof word);
}

static inline void fake_word_alloc(struct fake_guest *g, uint32_t ring, uint32_t slot,
				   uint64_t address)
{
	fake_word(g, ring,
		  AS_WIRE_SHORT | AS_WIRE_SHORT_ALLOC | (uint64_t)slot << AS_WIRE_SLOT_SHIFT |
			  address);
}

static inline void fake_word_free(struct fake_guest *g, uint32_t ring, uint64_t address)
{
	fake_word(g, ring, AS_WIRE_SHORT | address);
}

/* --- ranges and what has no number ------------------------------------------ */

static inline void fake_unmap(struct fake_guest *g, uint32_t ring, uint64_t address, uint64_t size)
{
	struct as_wire_range r = {fake_first(AS_WIRE_OP_UNMAP, fake_next(g, ring)), address, size};

	fake_write(g, ring, &r, sizeof r);
}

static inline void fake_thin(struct fake_guest *g, uint32_t ring, uint64_t address, uint64_t rate)
{
	struct as_wire_range r = {fake_first(AS_WIRE_OP_THIN, fake_next(g, ring)), address, rate};

	fake_write(g, ring, &r, sizeof r);
}

/* TIME or RATE. */
static inline void fake_say(struct fake_guest *g, uint32_t ring, enum as_wire_op op, uint64_t value)
{
	struct as_wire_time r = {fake_first(op, 0), value};

	fake_write(g, ring, &r, sizeof r);
}

/* A note that is complete. */
static inline void fake_note(struct fake_guest *g, uint32_t kind, const void *p, uint32_t n)
{
	uint64_t at = atomic_load(&g->heap->nnotes);
	struct as_wire_note head = {kind, n};
	char *to = (char *)g->heap + g->heap->notes_at + at;

	memcpy(to, &head, sizeof head);
	memcpy(to + sizeof head, p, n);
	atomic_store(&g->heap->nnotes, at + sizeof head + (n + 7) / 8 * 8);
}
