#pragma once
/*
 * record -- what every hook does with an event, see guest.h.
 *
 * Is it to be told at all? That is asked here, in place: where only some are
 * recorded nearly all go no further. Where all are, objects of Python's are nearly
 * everything that there is: they are written here too, when nothing stands in
 * their way (as_guest.plain), and by record.c when something does.
 */
#include "preload/ring.h"
#include "preload/sample.h"

/* Before all others, once. */
void as_record_begin(void);
void as_record_alloc(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size, void *frame);
/* The same of an object of Python's: nearly all that there are, where they are told. */
void as_record_object(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		      size_t size, void *frame);
void as_record_free(struct as_guest_thread *t, enum as_wire_op op, const void *address);

/* A sample that lives stands for what it would at that rate; 0: for nothing. False: no room. */
bool as_record_thin(struct as_guest_thread *t, const void *address, uint64_t rate);

/* What operator new asked for is of another size, see as_asked(). */
static inline void as_guest_alloc(struct as_guest_thread *t, enum as_wire_op op,
				  const void *address, size_t size, void *frame)
{
	if (!address || t->inside)
		return;
	if (as_guest.samples && !t->outer.op && as_sample_passes(t, size))
		return;
	as_record_alloc(t, op, address, size, frame);
}

static inline void as_guest_free(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	if (!address || (as_guest.samples && !as_sample_may_have(address)))
		return;
	as_record_free(t, op, address);
}

/* --- records of one word ------------------------------------------------------------------ */

/* libc's word for it, where it has one: there is one thread. */
extern const char *as_record_alone;

/* Alone nobody else takes numbers: a plain addition costs a fifth of an atomic one. */
static inline uint64_t as_record_number(void)
{
	_Atomic uint64_t *seq = &as_guest.heap->seq;
	uint64_t n;

	if (!*(const volatile char *)as_record_alone)
		return atomic_fetch_add_explicit(seq, 1, memory_order_relaxed);
	n = atomic_load_explicit(seq, memory_order_relaxed);
	atomic_store_explicit(seq, n + 1, memory_order_relaxed);
	return n;
}

static inline uint64_t as_record_op(enum as_wire_op op, uint64_t number)
{
	return ((uint64_t)op << AS_WIRE_OP_SHIFT) | number;
}

enum {
	AS_RECORD_WORD = 2 * sizeof(uint64_t), /* with its number */
	AS_RECORD_ALLOC = sizeof(struct as_wire_kind) + AS_RECORD_WORD,
};

/* One word, after its number if that is not the one that is due. There is room. */
static inline void as_record_word(struct as_writer *w, uint64_t word, uint64_t number)
{
	uint64_t *r = as_writer_at(w);

	if (__builtin_expect(number == w->due, 1)) {
		*r = word;
		as_writer_publish_number(w, number, sizeof word);
	} else {
		r[0] = as_record_op(AS_WIRE_OP_AT, number);
		r[1] = word;
		as_writer_publish_number(w, number, 2 * sizeof word);
	}
}

/* The slot stands for that kind from now on: once that is told. */
void as_record_kind(struct as_writer *w, struct as_guest_kind *k, size_t slot,
		    const struct as_guest_kind *is);

/* Stacks of the same time have numbers beside each other, and so have their slots. */
static inline size_t as_record_slot(uint64_t nodes, uint64_t size)
{
	return (nodes + (nodes >> 32) + size * 67) & (AS_WIRE_SLOTS - 1);
}

/* An allocation with stacks of these nodes, as in struct as_guest_kind. There is room. */
static inline void as_record_short(struct as_guest_thread *t, enum as_wire_op op, uint64_t address,
				   uint64_t size, uint64_t nodes)
{
	uint64_t size_op = size << 8 | op;
	size_t slot = as_record_slot(nodes, size);
	struct as_guest_kind *k = &t->kinds[slot];

	if (__builtin_expect(k->nodes != nodes || k->size_op != size_op, 0))
		as_record_kind(&t->own, k, slot,
			       &(struct as_guest_kind){.nodes = nodes, .size_op = size_op});
	as_record_word(&t->own,
		       AS_WIRE_SHORT | AS_WIRE_SHORT_ALLOC | slot << AS_WIRE_SLOT_SHIFT | address,
		       as_record_number());
}

/* --- objects, while nothing stands in their way ------------------------------------------- */

/*
 * What as_guest.plain says is so for this thread, which has a ring of its own. One that is new
 * has no slots, a child of fork finds `plain` 0.
 */
static inline bool as_record_is_plain(const struct as_guest_thread *t)
{
	return __builtin_expect(t->era == atomic_load_explicit(&as_guest.plain,
							       memory_order_acquire) &&
					t->kinds && !t->busy,
				1);
}

static inline bool as_record_has_room(const struct as_guest_thread *t, const void *address,
				      size_t bytes)
{
	return (uintptr_t)address <= AS_WIRE_SHORT_ADDRESS &&
	       as_writer_has_room(&t->own, t->own.told, bytes);
}

/* Of an object that was made, not within another hook. */
static inline void as_guest_object(struct as_guest_thread *t, enum as_wire_op op,
				   const void *address, size_t size, void *frame)
{
	bool told = false;

	if (as_record_is_plain(t)) {
		t->busy = 1;
		atomic_signal_fence(memory_order_seq_cst);
		uint32_t node = as_pywalk(t, true);

		told = node && as_record_has_room(t, address, AS_RECORD_ALLOC);
		if (told)
			as_record_short(t, op, (uintptr_t)address, size, node);
		atomic_signal_fence(memory_order_seq_cst);
		t->busy = 0;
	}
	if (__builtin_expect(!told, 0))
		as_record_object(t, op, address, size, frame);
}

/* Of an object that is given back; where only some are recorded this may be one of them. */
static inline void as_guest_object_free(struct as_guest_thread *t, const void *address)
{
	bool told = false;

	if (!address || t->inside)
		return;
	if (as_record_is_plain(t)) {
		t->busy = 1;
		atomic_signal_fence(memory_order_seq_cst);
		told = as_record_has_room(t, address, AS_RECORD_WORD);
		if (told)
			as_record_word(&t->own, AS_WIRE_SHORT | (uintptr_t)address,
				       as_record_number());
		atomic_signal_fence(memory_order_seq_cst);
		t->busy = 0;
	}
	if (__builtin_expect(!told, 0))
		as_record_free(t, AS_WIRE_OP_OBJECT_FREE, address);
}
