#include "preload/left.h"

#include <signal.h>

#include "preload/ring.h"
#include "preload/sys.h"

enum { SLACK = 1024 };

static bool on_own_stack(void)
{
	stack_t s = {0};

	return !as_sys3(SYS_sigaltstack, 0, (long)&s, 0) && !(s.ss_flags & SS_ONSTACK);
}

static void open_locks(void)
{
	_Atomic uint32_t *const locks[] = {&as_guest.note_lock,  &as_guest.tree_lock,
					   &as_guest.code_lock,  &as_guest.got_lock,
					   &as_guest.ring_lock,  &as_guest.sample_lock,
					   &as_guest.module_lock};

	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		as_unlock_if_ours(locks[i]);
}

/* The number of a claim is waited for: it has become nothing, as far as we know. */
static void give_up(struct as_guest_thread *t)
{
	struct as_writer *w = &t->own;
	uint64_t *room = (uint64_t *)(w->bytes + (w->head & w->mask));

	if (!t->claim)
		return;
	*room = (uint64_t)AS_WIRE_OP_NONE << AS_WIRE_OP_SHIFT | (t->claim - 1);
	as_writer_publish(w, sizeof *room);
	t->claim = 0;
}

static void recover(struct as_guest_thread *t)
{
	open_locks();
	give_up(t);
	atomic_fetch_add(&as_guest.heap->left, 1);
	atomic_fetch_add(&as_guest.heap->nested, 1); /* what it was about is not told */
	t->busy = 0;
}

bool as_left(struct as_guest_thread *t, uintptr_t frame)
{
	if (t->busy != AS_BUSY_RECORDS || frame + SLACK <= t->at || !on_own_stack())
		return false;
	recover(t);
	return true;
}

/* The next allocator's own calls are further down, if only by a little. */
void as_inside_again(struct as_guest_thread *t, uintptr_t frame)
{
	if (frame < t->at || t->busy == 1 || !on_own_stack())
		return;
	if (t->busy)
		recover(t);
	t->inside = 1;
	t->at = frame;
}
