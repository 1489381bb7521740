/*
 * native -- the stack of native code that an allocation was made from.
 *
 * A thread keeps its last walk (unwind/trail.h): what the stack still has in
 * common with it costs one or two loads a frame, and no look-up of a node.
 */
#include <string.h>

#include "preload/guest.h"
#include "preload/maps.h"
#include "unwind/module.h"
#include "unwind/trail.h"

enum { OTHER_STACKS = 8 };

struct as_native_thread {
	struct as_unwind_range own;                 /* the thread's stack; high 0: not met yet */
	struct as_unwind_range other[OTHER_STACKS]; /* of coroutines, of signals */
	uint32_t nothers;
	uint32_t unmaps; /* as_guest's, when the others were looked up */
	struct as_trail trail;
};

_Static_assert((int)AS_TRAIL_DEPTH == (int)AS_WIRE_HEAP_DEPTH,
	       "a stack is as deep as its reader expects");

/* Rules, for all threads; of this process alone. */
static struct as_unwind *unwinder;

/* ── where stacks are ─────────────────────────────────────────────────── */

/*
 * The stack of the main thread grows by itself, and nothing is ever mapped
 * close below it.
 */
static struct as_unwind_range with_room_to_grow(struct as_unwind_range r)
{
	enum { CLOSE = 64 << 20 };

	if (r.high - r.low < CLOSE && r.high > CLOSE)
		r.low = r.high - CLOSE;
	return r;
}

static bool mapping_of(uint64_t address, struct as_unwind_range *ret, bool *ret_main)
{
	struct as_maps m;
	struct as_maps_line l;
	bool found = false;

	if (!as_maps_open(&m))
		return false;
	while (!found && as_maps_next(&m, "[stack]", &l))
		found = address >= l.start && address < l.end;
	as_maps_close(&m);
	if (found) {
		*ret = (struct as_unwind_range){l.start, l.end};
		*ret = l.named ? with_room_to_grow(*ret) : *ret;
		*ret_main = l.named;
	}
	return found;
}

static bool holds(const struct as_unwind_range *r, uint64_t address)
{
	return address >= r->low && address < r->high;
}

/*
 * A thread that libc made has its variables, `t` among them, right above its
 * stack. Where nothing is known, the page that is stood on is there.
 */
static struct as_unwind_range look_up(struct as_guest_thread *t, uint64_t sp)
{
	struct as_native_thread *n = t->native;
	struct as_unwind_range r = {sp, (sp | 4095) + 1};
	bool is_main = false;

	if (!mapping_of(sp, &r, &is_main))
		return r;
	bool own = holds(&r, (uintptr_t)t) && (uintptr_t)t > sp;
	if (own)
		r.high = (uintptr_t)t;
	if (own || is_main)
		n->own = r;
	else
		n->other[n->nothers++ % OTHER_STACKS] = r;
	return r;
}

/* A stack that was given back may be another by now, and shorter. */
static void forget_others(struct as_native_thread *n)
{
	uint32_t unmaps = atomic_load_explicit(&as_guest.unmaps, memory_order_relaxed);

	if (n->unmaps == unmaps)
		return;
	n->unmaps = unmaps;
	memset(n->other, 0, sizeof n->other);
}

static struct as_unwind_range stack_of(struct as_guest_thread *t, uint64_t sp)
{
	struct as_native_thread *n = t->native;

	if (__builtin_expect(holds(&n->own, sp), true))
		return n->own;
	forget_others(n);
	for (uint32_t i = 0; i < OTHER_STACKS; i++)
		if (holds(&n->other[i], sp))
			return n->other[i];
	return look_up(t, sp);
}

/* ── walking ──────────────────────────────────────────────────────────── */

static bool find_tables(uint64_t pc, struct as_eh *ret)
{
	struct as_guest_module m;

	if (!as_module_at(pc, &m))
		return false;
	return as_eh_of_module(&(struct as_unwind_module){(const void *)(uintptr_t)m.start,
							  m.end - m.start, m.bias, m.eh_frame_hdr},
			       ret);
}

/* The registers of the hook's caller; false: they are not known. */
static bool find_caller(void *frame, struct as_unwind_stack *s, struct as_unwind_regs *ret)
{
#ifdef __aarch64__
	/* A frame pointer does not tell where its frame ends: come from within. */
	struct as_unwind_regs regs = as_unwind_here();
	struct as_unwind_read read;

	for (*ret = regs; regs.sp <= (uintptr_t)frame; regs = *ret)
		if (as_unwind_step(unwinder, s, &regs, ret, &read) != AS_UNWIND_ON)
			return false;
#else
	const uint64_t *word = frame;

	(void)s;
	ret->pc = word[1] - 1;
	ret->sp = (uintptr_t)(word + 2);
	ret->fp = word[0];
	ret->lr = 0;
#endif
	return true;
}

static uint32_t node_of(struct as_trail *t)
{
	uint32_t node = t->same ? t->frame[t->same - 1].node : 0;

	for (uint32_t i = t->same; i < t->n; i++)
		t->frame[i].node = node = as_tree_child(node, as_module_key(t->frame[i].at.pc));
	return node;
}

static bool prepare(struct as_guest_thread *t)
{
	if (!t->native && !t->ended)
		t->native = as_guest_pages(sizeof *t->native);
	return unwinder && t->native;
}

uint32_t as_native_walk(struct as_guest_thread *t, void *frame)
{
	if (!prepare(t))
		return 0;
	struct as_trail *trail = &t->native->trail;
	struct as_unwind_stack s = {.here = stack_of(t, (uintptr_t)frame)};
	s.home = t->native->own;
	if (!find_caller(frame, &s, as_trail_start(trail)))
		return 0;
	as_trail_walk(trail, unwinder, &s);
	if (!trail->whole)
		atomic_fetch_add_explicit(&as_guest.heap->clipped, 1, memory_order_relaxed);
	return node_of(trail);
}

/* ── begin and end ────────────────────────────────────────────────────── */

void as_native_end(struct as_guest_thread *t)
{
	as_guest_pages_back(t->native, sizeof *t->native);
	t->native = NULL;
}

/* In a forked child too: modules and nodes are those of the parent. */
void as_native_begin(struct as_guest_thread *t)
{
	as_native_end(t);
	if (unwinder && as_guest.attached)
		return; /* it forgets by itself what is no longer loaded */
	as_guest_pages_back(unwinder, sizeof *unwinder);
	unwinder = as_guest_pages(sizeof *unwinder);
	if (!unwinder) {
		as_guest.heap->why = AS_WIRE_WHY_UNWIND;
		return;
	}
	unwinder->find = find_tables;
	unwinder->unloads = &as_guest.unloads;
}
