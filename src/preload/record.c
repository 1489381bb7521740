#include "preload/record.h"

#include "preload/begin.h"
#include "preload/ring.h"
#include "preload/symbol.h"

/* libc's word for it: there is one thread. */
static const char unknown;
static const char *alone = &unknown;

void as_record_begin(void)
{
	const char *found = as_symbol_first("__libc_single_threaded"); /* glibc 2.32 */

	alone = found ? found : &unknown;
}

/* Alone nobody else takes numbers: a plain addition costs a fifth of an atomic one. */
static inline uint64_t take_number(void)
{
	_Atomic uint64_t *seq = &as_guest.heap->seq;
	uint64_t n;

	if (!*(const volatile char *)alone)
		return atomic_fetch_add_explicit(seq, 1, memory_order_relaxed);
	n = atomic_load_explicit(seq, memory_order_relaxed);
	atomic_store_explicit(seq, n + 1, memory_order_relaxed);
	return n;
}

static inline uint64_t with_op(enum as_wire_op op, uint64_t number)
{
	return ((uint64_t)op << AS_WIRE_OP_SHIFT) | number;
}

/* Whether the event is the host's, to be recorded now; `busy` is set then. */
static inline bool enter(struct as_guest_thread *t)
{
	if (__builtin_expect(atomic_load_explicit(&as_guest.phase, memory_order_acquire) !=
				     AS_GUEST_RECORDS,
			     0) &&
	    !as_guest_begin(t))
		return false;
	if (__builtin_expect(t->busy || t->inside, 0)) {
		if (!t->inside)
			atomic_fetch_add(&as_guest.heap->nested, 1);
		return false;
	}
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(t->era != as_guest.era, 0))
		as_thread_renew(t);
	return true;
}

static inline void leave(struct as_guest_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = 0;
}

/* --- allocations ------------------------------------------------------------------------ */

/*
 * Under operator new it is that, as it was asked for and from where; wire/heap.h. False: it is not
 * recorded.
 */
static bool as_asked(struct as_guest_thread *t, struct as_wire_alloc *a, enum as_wire_op *op,
		     void **frame)
{
	if (a->size >= t->outer.size) { /* else it is one that threw long ago */
		*op = t->outer.op;
		a->size = t->outer.size;
		*frame = t->outer.frame;
	}
	t->outer.op = 0;
	return !as_guest.samples || !as_sample_passes(t, a->size);
}

static inline void fill_alloc(struct as_writer *w, struct as_wire_alloc *r, enum as_wire_op op,
			      const struct as_wire_alloc *a)
{
	r->seq_op = with_op(op, take_number());
	r->address = a->address;
	r->size = a->size;
	r->python = a->python;
	r->native = a->native;
	as_writer_publish(w, sizeof *r);
}

static void write_alloc_slowly(struct as_guest_thread *t, enum as_wire_op op,
			       const struct as_wire_alloc *a)
{
	struct as_writer *w = as_writer_enter(t);
	struct as_wire_alloc *r;

	w->rate = t->drawn;
	r = as_writer_room(w, sizeof *r);
	if (r)
		fill_alloc(w, r, op, a);
	as_writer_leave(w);
}

static inline void write_alloc(struct as_guest_thread *t, enum as_wire_op op,
			       const struct as_wire_alloc *a)
{
	struct as_wire_alloc *r = as_writer_room_at_once(&t->own, t->drawn, sizeof *r);

	if (r)
		fill_alloc(&t->own, r, op, a);
	else
		write_alloc_slowly(t, op, a);
}

/* What ends by UNMAP is always told, and not looked up. */
static bool kept(enum as_wire_op op, const void *address)
{
	return op == AS_WIRE_OP_MMAP || op == AS_WIRE_OP_MAP_FILE || op == AS_WIRE_OP_BRK ||
	       as_sample_keep(address);
}

static inline __attribute__((always_inline)) void
write_stacks(struct as_guest_thread *t, enum as_wire_op op, struct as_wire_alloc *a, void *frame)
{
	if (as_guest.flags & AS_WIRE_HEAP_PYTHON)
		a->python = as_pywalk(t);
	if (as_guest.flags & AS_WIRE_HEAP_NATIVE)
		a->native = as_native_walk(t, frame);
	write_alloc(t, op, a);
}

/* Sampled, or of an operator new. */
static void record_some(struct as_guest_thread *t, enum as_wire_op op, struct as_wire_alloc *a,
			void *frame)
{
	if (t->outer.op && !as_asked(t, a, &op, &frame))
		return;
	if ((as_guest.samples && !as_sample_due(t, a->size)) || !enter(t))
		return;
	if (!as_guest.samples || kept(op, (const void *)(uintptr_t)a->address))
		write_stacks(t, op, a, frame);
	leave(t);
}

void as_record_alloc(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size, void *frame)
{
	struct as_wire_alloc a = {.address = (uintptr_t)address, .size = size};

	if (__builtin_expect(t->outer.op || as_guest.samples, 0)) {
		record_some(t, op, &a, frame);
	} else if (enter(t)) {
		write_stacks(t, op, &a, frame);
		leave(t);
	}
}

/* Never left out: whoever does not know that it is accessible counts it the next time. */
void as_guest_commit(struct as_guest_thread *t, const void *address, size_t size, void *frame)
{
	struct as_wire_alloc a = {.address = (uintptr_t)address, .size = size};

	if (t->inside || !enter(t))
		return;
	write_stacks(t, AS_WIRE_OP_COMMIT, &a, frame);
	leave(t);
}

/* --- what is given back -------------------------------------------------------------------- */

static inline size_t size_of(enum as_wire_op op)
{
	return op >= AS_WIRE_OP_UNMAP ? sizeof(struct as_wire_range) : sizeof(struct as_wire_free);
}

static inline void write_back(struct as_writer *w, void *room, enum as_wire_op op,
			      const struct as_wire_range *what)
{
	struct as_wire_range *r = room;

	r->seq_op = with_op(op, what->seq_op);
	r->address = what->address;
	if (op >= AS_WIRE_OP_UNMAP)
		r->size = what->size;
	as_writer_publish(w, size_of(op));
}

/* Mappings are given back in parts, which no table of addresses knows: all are told. */
static inline bool told(enum as_wire_op op, const void *address)
{
	return !as_guest.samples || op == AS_WIRE_OP_UNMAP || as_sample_had(address);
}

static void tell_back(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		      size_t size)
{
	struct as_writer *w = as_writer_enter(t);
	void *room;

	w->rate = w->told;
	room = as_writer_room(w, size_of(op));
	if (room)
		write_back(w, room, op,
			   &(struct as_wire_range){take_number(), (uintptr_t)address, size});
	as_writer_leave(w);
}

void as_record_free(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	struct as_writer *w = &t->own;
	struct as_wire_free *r;

	if (!enter(t))
		return;
	r = as_guest.samples ? NULL : as_writer_room_at_once(w, w->told, sizeof *r);
	if (r) {
		r->seq_op = with_op(op, take_number());
		r->address = (uintptr_t)address;
		as_writer_publish(w, sizeof *r);
	} else if (told(op, address)) {
		tell_back(t, op, address, 0);
	}
	leave(t);
}

void as_guest_reserve(struct as_guest_thread *t, const void *address, size_t size)
{
	if (t->inside || !enter(t))
		return;
	tell_back(t, AS_WIRE_OP_RESERVE, address, size);
	leave(t);
}

/*
 * The ring of everybody cannot wait for a call to return: others write there
 * meanwhile, with later numbers. It is told before, as if nothing ever failed.
 */
static uint64_t claim_in(struct as_writer *w, enum as_wire_op op, const void *address, size_t size)
{
	void *room = as_writer_room(w, size_of(op));

	if (!room)
		return 0;
	if (w != &as_guest.everybody)
		return take_number() + 1;
	write_back(w, room, op, &(struct as_wire_range){take_number(), (uintptr_t)address, size});
	return 0;
}

uint64_t as_guest_claim(struct as_guest_thread *t, enum as_wire_op op, const void *address,
			size_t size)
{
	struct as_writer *w;
	uint64_t claim = 0;

	if (!address || !enter(t))
		return 0;
	if (told(op, address)) {
		w = as_writer_enter(t);
		w->rate = w->told;
		claim = claim_in(w, op, address, size);
		as_writer_leave(w);
	}
	if (!claim)
		leave(t);
	return claim;
}

void as_guest_settle(struct as_guest_thread *t, uint64_t claim, enum as_wire_op op,
		     const void *address, size_t size, bool done)
{
	struct as_writer *w = &t->own;
	uint64_t *room = (uint64_t *)(w->bytes + (w->head & w->mask));

	if (!claim)
		return;
	if (done) {
		write_back(w, room, op,
			   &(struct as_wire_range){claim - 1, (uintptr_t)address, size});
	} else {
		*room = with_op(AS_WIRE_OP_NONE, claim - 1);
		as_writer_publish(w, sizeof *room);
		if (as_guest.samples && op != AS_WIRE_OP_UNMAP)
			as_sample_keep(address);
	}
	leave(t);
}
