#pragma once
/*
 * ring -- the records of one thread, one after the other, as deeds.
 *
 * Everything there was written by somebody else's process, and every word of it
 * is read once and distrusted. What makes no sense is counted as bad; where a record
 * has no end that makes sense, all that was written up to now is passed over.
 */
#include "heap/deeds.h"
#include "heap/mapping.h"
#include "heap/writers.h"

enum { AS_RING_ONCE = 64 << 10 }; /* records that are read before another has its turn, about */

/*
 * What the bits above the address of a record of one word stand for: 0: nothing that
 * was told, or it is no such record; AS_RING_FREE; a kind + AS_RING_KIND.
 */
enum {
	AS_RING_FREES = AS_WIRE_SHORT >> AS_WIRE_SLOT_SHIFT,
	AS_RING_SLOTS = (AS_WIRE_SHORT | AS_WIRE_SHORT_ALLOC) >> AS_WIRE_SLOT_SHIFT,
	AS_RING_TAGS = 1 << (64 - AS_WIRE_SLOT_SHIFT),
	AS_RING_FREE = 1,
	AS_RING_KIND = 2,
};

_Static_assert(AS_DEED_FREED == (uint32_t)AS_RING_FREE - AS_RING_KIND, "as if it were a kind");

/* What the rings of a process share. */
struct as_reading {
	const struct as_mapping *mapping;
	struct as_writers writers;
	struct as_deeds deeds;
	uint64_t next; /* the number that is waited for            */
	int64_t now_ns;
	uint32_t nnodes;  /* of the guest's tree, so far              */
	uint64_t records; /* that were read                           */
	uint64_t bad;     /* that made no sense, and rings that lost their thread */
};

struct as_ring {
	struct as_wire_ring *wire;
	const uint8_t *bytes;
	uint32_t number, size;
	int32_t thread;      /* AS_RING_NOBODY: who uses it is not yet known */
	uint64_t tail, head; /* ours; what is between was written    */
	uint64_t seq;        /* of the record at `tail`              */
	uint64_t due;        /* of the next that does not tell its own; AS_RING_UNTOLD: not known */
	uint32_t *tag;       /* [AS_RING_TAGS]; NULL: not needed yet */
	int64_t ns;
	uint8_t op, rate;
	bool queued; /* the reader's */
};

#define AS_RING_NOBODY (-1)
#define AS_RING_UNTOLD UINT64_MAX

void as_ring_init(struct as_ring *r, const struct as_reading *all, uint32_t number);
void as_ring_done(struct as_ring *r);
/* Is there a record with a number? Then `seq` is its. */
bool as_ring_peek(struct as_reading *all, struct as_ring *r);
/* That record, whose number is the next, and those whose numbers follow. */
void as_ring_take(struct as_reading *all, struct as_ring *r);
/* That record, unread. */
void as_ring_pass(struct as_reading *all, struct as_ring *r);
/* A thread that has ended and left nothing more: its ring is free for another. */
void as_ring_release(struct as_ring *r);
