#include "preload/record.h"

#include "preload/begin.h"
#include "preload/ring.h"
#include "preload/symbol.h"

/* Once for each event. */
#define HOT static inline __attribute__((always_inline))

static const char unknown;
const char *as_record_alone = &unknown;

void as_record_begin(void)
{
	const char *found = as_symbol_first("__libc_single_threaded"); /* glibc 2.32 */

	as_record_alone = found ? found : &unknown;
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

static inline bool is_object(enum as_wire_op op)
{
	return op >= AS_WIRE_OP_OBJECT_MALLOC && op <= AS_WIRE_OP_OBJECT_REALLOC;
}

/* Of the malloc family, or an object: those have records of one word. */
static inline bool is_common(enum as_wire_op op)
{
	return op != AS_WIRE_OP_MMAP && op != AS_WIRE_OP_BRK && op < AS_WIRE_OP_COMMIT;
}

void as_record_kind(struct as_writer *w, struct as_guest_kind *k, size_t slot,
		    const struct as_guest_kind *is)
{
	struct as_wire_kind *r = as_writer_at(w);

	r->slot_op = as_record_op(AS_WIRE_OP_KIND, (is->size_op & 0xff) << 16 | slot);
	r->size = is->size_op >> 8;
	r->python = (uint32_t)is->nodes;
	r->native = (uint32_t)(is->nodes >> 32);
	as_writer_publish(w, sizeof *r);
	atomic_signal_fence(memory_order_seq_cst);
	*k = *is;
}

static inline void put_alloc(struct as_guest_thread *t, enum as_wire_op op,
			     const struct as_wire_alloc *a)
{
	as_record_short(t, op, a->address, a->size, a->python | (uint64_t)a->native << 32);
}

static void put_whole(struct as_writer *w, struct as_wire_alloc *r, enum as_wire_op op,
		      const struct as_wire_alloc *a)
{
	uint64_t number = as_record_number();

	*r = *a;
	r->seq_op = as_record_op(op, number);
	as_writer_publish_number(w, number, sizeof *r);
}

static inline bool has_word(const struct as_guest_thread *t, enum as_wire_op op, uint64_t address,
			    bool object)
{
	return t->kinds && (object || is_common(op)) && address <= AS_WIRE_SHORT_ADDRESS;
}

static __attribute__((noinline)) bool
write_alloc_slowly(struct as_guest_thread *t, enum as_wire_op op, const struct as_wire_alloc *a)
{
	struct as_writer *w = as_writer_enter(t);
	struct as_wire_alloc *r;

	w->rate = t->drawn;
	r = as_writer_room(w, AS_RECORD_ALLOC);
	if (r && w == &t->own && has_word(t, op, a->address, false))
		put_alloc(t, op, a);
	else if (r)
		put_whole(w, r, op, a);
	as_writer_leave(w);
	return r;
}

/* A copy for those who want its address: so it is in registers for the others. False: no room. */
HOT bool write_alloc(struct as_guest_thread *t, enum as_wire_op op, struct as_wire_alloc a,
		     bool object)
{
	if (has_word(t, op, a.address, object) &&
	    as_writer_has_room(&t->own, t->drawn, AS_RECORD_ALLOC)) {
		put_alloc(t, op, &a);
		return true;
	}
	struct as_wire_alloc copy = a;

	return write_alloc_slowly(t, op, &copy);
}

/* What ends by UNMAP is always told, and not looked up. */
static bool is_looked_up(enum as_wire_op op)
{
	return op != AS_WIRE_OP_MMAP && op != AS_WIRE_OP_MAP_FILE && op != AS_WIRE_OP_BRK &&
	       op != AS_WIRE_OP_ARENA;
}

/* What no Python asked for has a stack all the same: the interpreter's start, native threads. */
HOT bool write_stacks(struct as_guest_thread *t, enum as_wire_op op, struct as_wire_alloc a,
		      void *frame, bool object)
{
	if (as_guest.flags & AS_WIRE_HEAP_PYTHON)
		a.python = as_pywalk(t, object);
	if (__builtin_expect(!a.python || as_guest.flags & AS_WIRE_HEAP_NATIVE, 0))
		a.native = as_native_walk(t, frame);
	return write_alloc(t, op, a, object);
}

/* Sampled, or of an operator new. */
static __attribute__((noinline)) void record_some(struct as_guest_thread *t, enum as_wire_op op,
						  struct as_wire_alloc *a, void *frame)
{
	if (t->outer.op && !as_asked(t, a, &op, &frame))
		return;
	if ((as_guest.samples && !as_sample_due(t, a->size)) || !enter(t))
		return;
	if (write_stacks(t, op, *a, frame, is_object(op)) && as_guest.samples && is_looked_up(op))
		as_sample_keep(t, (const void *)(uintptr_t)a->address, a->size);
	leave(t);
}

void as_record_alloc(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		     size_t size, void *frame)
{
	struct as_wire_alloc a = {.address = (uintptr_t)address, .size = size};

	if (__builtin_expect(t->outer.op || as_guest.samples, 0)) {
		struct as_wire_alloc copy = a;

		record_some(t, op, &copy, frame);
	} else if (enter(t)) {
		write_stacks(t, op, a, frame, false);
		leave(t);
	}
}

void as_record_object(struct as_guest_thread *t, enum as_wire_op op, const void *address,
		      size_t size, void *frame)
{
	struct as_wire_alloc a = {.address = (uintptr_t)address, .size = size};

	if (as_guest.samples) {
		struct as_wire_alloc copy = a;

		record_some(t, op, &copy, frame);
	} else if (enter(t)) {
		write_stacks(t, op, a, frame, true);
		leave(t);
	}
}

/* Never left out: whoever does not know that it is accessible counts it the next time. */
void as_guest_commit(struct as_guest_thread *t, const void *address, size_t size, void *frame)
{
	struct as_wire_alloc a = {.address = (uintptr_t)address, .size = size};

	if (t->inside || !enter(t))
		return;
	write_stacks(t, AS_WIRE_OP_COMMIT, a, frame, false);
	leave(t);
}

/* --- what is given back -------------------------------------------------------------------- */

_Static_assert(sizeof(struct as_wire_free) == AS_RECORD_WORD, "either fits");

static inline size_t size_of(enum as_wire_op op)
{
	return op >= AS_WIRE_OP_UNMAP ? sizeof(struct as_wire_range) : sizeof(struct as_wire_free);
}

/* Its number is in `seq_op`. There is room. */
static inline void write_back(struct as_writer *w, enum as_wire_op op,
			      const struct as_wire_range *what)
{
	struct as_wire_range *r = as_writer_at(w);

	if (op < AS_WIRE_OP_UNMAP && what->address <= AS_WIRE_SHORT_ADDRESS) {
		as_record_word(w, AS_WIRE_SHORT | what->address, what->seq_op);
		return;
	}
	r->seq_op = as_record_op(op, what->seq_op);
	r->address = what->address;
	if (op >= AS_WIRE_OP_UNMAP)
		r->size = what->size;
	as_writer_publish_number(w, what->seq_op, size_of(op));
}

/* Mappings are given back in parts, which no table of addresses knows: all are told. */
static inline bool told(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	return !as_guest.samples || op == AS_WIRE_OP_UNMAP || as_sample_had(t, address);
}

static __attribute__((noinline)) bool tell_back(struct as_guest_thread *t, enum as_wire_op op,
						const void *address, size_t size)
{
	struct as_writer *w = as_writer_enter(t);
	bool room;

	w->rate = w->told;
	room = as_writer_room(w, size_of(op));
	if (room)
		write_back(w, op,
			   &(struct as_wire_range){as_record_number(), (uintptr_t)address, size});
	as_writer_leave(w);
	return room;
}

void as_record_free(struct as_guest_thread *t, enum as_wire_op op, const void *address)
{
	struct as_writer *w = &t->own;
	uint64_t at = (uintptr_t)address;

	if (!enter(t))
		return;
	if (!as_guest.samples && at <= AS_WIRE_SHORT_ADDRESS &&
	    as_writer_has_room(w, w->told, AS_RECORD_WORD))
		as_record_word(w, AS_WIRE_SHORT | at, as_record_number());
	else if (told(t, op, address))
		tell_back(t, op, address, 0);
	leave(t);
}

bool as_record_thin(struct as_guest_thread *t, const void *address, uint64_t rate)
{
	return tell_back(t, AS_WIRE_OP_THIN, address, rate);
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
	if (!as_writer_room(w, size_of(op)))
		return 0;
	if (w != &as_guest.everybody)
		return as_record_number() + 1;
	write_back(w, op, &(struct as_wire_range){as_record_number(), (uintptr_t)address, size});
	return 0;
}

uint64_t as_guest_claim(struct as_guest_thread *t, enum as_wire_op op, const void *address,
			size_t size)
{
	struct as_writer *w;
	uint64_t claim = 0;

	if (!address || !enter(t))
		return 0;
	if (told(t, op, address)) {
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
	uint64_t *room = as_writer_at(w);

	if (!claim)
		return;
	if (done) {
		write_back(w, op, &(struct as_wire_range){claim - 1, (uintptr_t)address, size});
	} else {
		*room = as_record_op(AS_WIRE_OP_NONE, claim - 1);
		as_writer_publish_number(w, claim - 1, sizeof *room);
		if (as_guest.samples && op != AS_WIRE_OP_UNMAP)
			as_sample_keep_on(t);
	}
	leave(t);
}
