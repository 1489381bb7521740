#pragma once
/*
 * ring -- where a thread writes its records, and what it does when the other
 * end does not read.
 *
 * A thread takes a ring at its first event and gives it back when it ends. Ring
 * 0 is everybody's who has none, under a lock.
 */
#include "preload/guest.h"

/*
 * Whose records go where. NULL: nothing is recorded any more. For as long as it
 * is held nobody else writes there; as_writer_leave() is due.
 */
struct as_writer *as_writer_enter(struct as_guest_thread *t);
void as_writer_leave(struct as_writer *w);

/*
 * Room for a record of so many bytes, after what its reader must know of the
 * moment (time, rate). Waits a little when the ring is full; NULL: the event is
 * lost, and counted, or nothing is recorded any more.
 */
void *as_writer_room_slowly(struct as_writer *w, size_t bytes);
void as_writer_publish(struct as_writer *w, size_t bytes);

static inline void *as_writer_room(struct as_writer *w, size_t bytes)
{
	uint64_t now = atomic_load_explicit(&as_guest.session->now_ns, memory_order_relaxed);

	if (__builtin_expect(w->head + bytes <= w->limit && now == w->now_ns && w->rate == w->told,
			     1))
		return w->bytes + (w->head & w->mask);
	return as_writer_room_slowly(w, bytes);
}
