#include "preload/ring.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "preload/begin.h"
#include "preload/sys.h"

enum {
	PATIENCE_MS = 5000, /* for a collector that reads, but not fast enough      */
	DEAD_MS = 3000,     /* for one that does not even tell the time              */
	NAP_MS = 20,
};

/* --- waiting ----------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec ts = {0};

	as_sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void bell(void)
{
	_Atomic uint32_t *b = &as_guest.session->bell;

	atomic_fetch_add(b, 1);
	as_sys3(SYS_futex, (long)b, FUTEX_WAKE, INT_MAX);
}

static bool fits(const struct as_writer *w, size_t bytes)
{
	return w->head + bytes - atomic_load_explicit(&w->ring->tail, memory_order_acquire) <=
	       w->ring->size;
}

static void nap(struct as_writer *w, size_t bytes)
{
	struct timespec ts = {.tv_nsec = NAP_MS * 1000000l};
	uint32_t seen = atomic_load(&w->ring->room);

	atomic_store(&w->ring->wanted, 1);
	if (!fits(w, bytes))
		as_sys6(SYS_futex, (long)&w->ring->room, FUTEX_WAIT, seen, (long)&ts, 0, 0);
}

/*
 * Whether it is still worth waiting. The collector's clock is ours, unless one
 * of us is in a namespace of time; so one that stands is believed to be old only
 * when it was seen to stand.
 */
static bool hope(uint64_t seen, int64_t now, int64_t begun)
{
	uint64_t theirs = atomic_load(&as_guest.session->now_ns);

	if (atomic_load(&as_guest.phase) != AS_GUEST_RECORDS)
		return false;
	if (theirs != seen || now == begun)
		return now - begun < PATIENCE_MS * 1000000ll;
	if (now - (int64_t)theirs < DEAD_MS * 1000000ll)
		return true;
	as_guest_leave(AS_WIRE_WHY_DEAD);
	return false;
}

static bool wait_for(struct as_writer *w, size_t bytes)
{
	int64_t begun = now_ns(), now = begun;
	uint64_t seen = atomic_load(&as_guest.session->now_ns);

	while (!fits(w, bytes) && hope(seen, now, begun)) {
		bell();
		nap(w, bytes);
		now = now_ns();
	}
	atomic_store(&w->ring->wanted, 0);
	atomic_fetch_add(&as_guest.heap->waited_ns, (uint64_t)(now - begun));
	w->hopeless = !fits(w, bytes);
	return !w->hopeless;
}

static bool ensure(struct as_writer *w, size_t bytes)
{
	if (fits(w, bytes)) {
		w->hopeless = false;
		return true;
	}
	return !w->hopeless && wait_for(w, bytes);
}

/* --- room ---------------------------------------------------------------------------- */

/* Up to where nothing else needs to be thought of: the end, the reader, or half of the ring. */
static void set_limit(struct as_writer *w, size_t bytes)
{
	uint64_t tail = atomic_load_explicit(&w->ring->tail, memory_order_acquire);
	uint64_t end = (w->head | w->mask) + 1, half = tail + w->ring->size / 2;

	w->limit = tail + w->ring->size;
	if (w->head + bytes > half)
		bell();
	else
		w->limit = half;
	if (w->limit > end)
		w->limit = end;
}

static bool skip(struct as_writer *w, size_t rest)
{
	if (!ensure(w, rest))
		return false;
	*(uint64_t *)(w->bytes + (w->head & w->mask)) = (uint64_t)AS_WIRE_OP_SKIP
							<< AS_WIRE_OP_SHIFT;
	as_writer_publish(w, rest);
	return true;
}

static void *make_room(struct as_writer *w, size_t bytes)
{
	size_t rest = (size_t)(w->ring->size - (w->head & w->mask));

	if ((rest < bytes && !skip(w, rest)) || !ensure(w, bytes)) {
		if (!atomic_load(&as_guest.session->stop)) /* else it is one after the end */
			atomic_fetch_add(&as_guest.heap->lost, 1);
		return NULL;
	}
	set_limit(w, bytes);
	return w->bytes + (w->head & w->mask);
}

static bool tell(struct as_writer *w, enum as_wire_op op, uint64_t value)
{
	struct as_wire_time *r = make_room(w, sizeof *r);

	if (!r)
		return false;
	r->seq_op = (uint64_t)op << AS_WIRE_OP_SHIFT;
	r->ns = value;
	as_writer_publish(w, sizeof *r);
	return true;
}

/* Nobody looks, for a while: the time is ours, until the collector is awake. */
static uint64_t rouse(uint64_t asleep)
{
	uint64_t now = (uint64_t)now_ns() & ~AS_WIRE_ASLEEP;

	if (!atomic_compare_exchange_strong(&as_guest.session->now_ns, &asleep, now))
		return asleep; /* somebody else was faster */
	bell();
	return now;
}

void *as_writer_room_slowly(struct as_writer *w, size_t bytes)
{
	uint64_t now = atomic_load(&as_guest.session->now_ns);

	if (now & AS_WIRE_ASLEEP)
		now = rouse(now);

	if (atomic_load(&as_guest.session->stop)) {
		as_guest_stop();
		return NULL;
	}
	if (now != w->now_ns) {
		if (!tell(w, AS_WIRE_OP_TIME, now))
			return NULL;
		w->now_ns = now;
	}
	if (w->rate != w->told) {
		if (!tell(w, AS_WIRE_OP_RATE, w->rate))
			return NULL;
		w->told = w->rate;
	}
	return make_room(w, bytes);
}

/* --- whose ring ------------------------------------------------------------------------ */

static void adopt(struct as_writer *w, struct as_wire_ring *ring, uint32_t tid)
{
	atomic_store(&ring->tid, tid);
	*w = (struct as_writer){
		.ring = ring,
		.bytes = (uint8_t *)as_guest.heap + ring->at,
		.head = atomic_load(&ring->head),
		.due = AS_WIRE_SEQ_MASK,
		.mask = ring->size - 1,
	};
}

static bool take_ring(struct as_guest_thread *t)
{
	for (uint32_t i = 1; i < AS_WIRE_HEAP_RINGS; i++) {
		struct as_wire_ring *ring = &as_guest.heap->ring[i];
		uint32_t was = AS_WIRE_RING_FREE;

		if (atomic_load_explicit(&ring->state, memory_order_relaxed) == was &&
		    atomic_compare_exchange_strong(&ring->state, &was, AS_WIRE_RING_USED)) {
			adopt(&t->own, ring, t->tid);
			t->kinds = as_guest_pages(AS_WIRE_SLOTS * sizeof *t->kinds);
			return true;
		}
	}
	return false;
}

/* Told when it is new: at the beginning, and at the end when it has changed. */
static void note_name(struct as_guest_thread *t)
{
	struct as_wire_thread who = {.tid = t->tid, .self = t->self};
	char name[sizeof t->name] = {0};
	struct as_note_part parts[] = {{&who, sizeof who}, {name, 0}};

	as_sys3(SYS_prctl, PR_GET_NAME, (long)name, 0);
	if (!memcmp(name, t->name, sizeof name))
		return;
	memcpy(t->name, name, sizeof name);
	parts[1].size = strnlen(name, sizeof name);
	as_note(AS_WIRE_NOTE_THREAD, parts, 2);
}

/* Who found all rings taken asks again now and then: looking through them takes long. */
static bool settle_in(struct as_guest_thread *t)
{
	if (t->ended || t->tries++ % 64)
		return false;
	t->tid = (uint32_t)as_sys3(SYS_gettid, 0, 0, 0);
	if (!take_ring(t))
		return false;
	note_name(t);
	as_thread_known(t);
	return true;
}

struct as_writer *as_writer_enter_slowly(struct as_guest_thread *t)
{
	struct as_writer *all = &as_guest.everybody;

	if (settle_in(t))
		return &t->own;
	as_lock(&as_guest.ring_lock);
	if (!all->ring) {
		atomic_store(&as_guest.heap->ring[0].state, AS_WIRE_RING_USED);
		adopt(all, &as_guest.heap->ring[0], 0);
	}
	return all;
}

void as_ring_forget(struct as_guest_thread *t)
{
	if (t->kinds)
		as_guest_pages_back(t->kinds, AS_WIRE_SLOTS * sizeof *t->kinds);
	t->kinds = NULL;
}

void as_ring_give_back(struct as_guest_thread *t)
{
	struct as_wire_ring *ring = t->own.ring;

	if (!ring)
		return;
	note_name(t);
	t->own = (struct as_writer){0};
	as_ring_forget(t);
	atomic_store_explicit(&ring->state, AS_WIRE_RING_ENDED, memory_order_release);
}
