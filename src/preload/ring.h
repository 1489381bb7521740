#pragma once
/*
 * ring -- where a thread writes its records, and what it does when the other
 * end does not read.
 *
 * A thread takes a ring at its first event and gives it back when it ends. Ring
 * 0 is everybody's who has none, under a lock.
 */
#include "preload/guest.h"

struct as_writer *as_writer_enter_slowly(struct as_guest_thread *t);
/* What the slots of its ring stood for: it has none, or another. */
void as_ring_forget(struct as_guest_thread *t);
void *as_writer_room_slowly(struct as_writer *w, size_t bytes);

/* Where its records go. Until as_writer_leave() nobody else writes there. */
static inline struct as_writer *as_writer_enter(struct as_guest_thread *t)
{
	return __builtin_expect(t->own.ring != NULL, 1) ? &t->own : as_writer_enter_slowly(t);
}

static inline void as_writer_leave(struct as_writer *w)
{
	if (__builtin_expect(w == &as_guest.everybody, 0))
		as_unlock(&as_guest.ring_lock);
}

/* Where the next record goes, if there is room for it. */
static inline void *as_writer_at(const struct as_writer *w)
{
	return w->bytes + (w->head & w->mask);
}

/* Is there room for a record, and nothing else to do or to tell? */
static inline bool as_writer_has_room(const struct as_writer *w, uint64_t rate, size_t bytes)
{
	uint64_t now = atomic_load_explicit(&as_guest.session->now_ns, memory_order_relaxed);

	return __builtin_expect(w->head + bytes <= w->limit && now == w->now_ns && rate == w->told,
				1);
}

/*
 * Room for a record of so many bytes, after what its reader must know of the
 * moment (time, rate). Waits a little when the ring is full; NULL: the event is
 * lost, and counted, or nothing is recorded any more.
 */
static inline void *as_writer_room(struct as_writer *w, size_t bytes)
{
	return as_writer_has_room(w, w->rate, bytes) ? as_writer_at(w)
						     : as_writer_room_slowly(w, bytes);
}

static inline void as_writer_publish(struct as_writer *w, size_t bytes)
{
	w->head += bytes;
	atomic_store_explicit(&w->ring->head, w->head, memory_order_release);
}

/*
 * A record that has a number. What comes next is known only when this is there: a
 * handler of the host's may jump out in between.
 */
static inline void as_writer_publish_number(struct as_writer *w, uint64_t number, size_t bytes)
{
	as_writer_publish(w, bytes);
	atomic_signal_fence(memory_order_seq_cst);
	w->due = number + 1;
}
