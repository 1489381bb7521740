/*
 * hook_jump -- longjmp and its relatives: out of a signal's handler, they may
 * leave a hook in the middle, which then never says that it is done.
 *
 * Whoever jumps while a hook of this thread is at work, to a place above that
 * hook's frame, leaves it: the thread is heard again, and locks that it has are
 * open. What was being written is not there, as records count only when they
 * are whole; its number may be missing, and the collector is told so. A handler
 * that jumps within itself comes back to the hook, and nothing is changed.
 */
#include <signal.h>

#include "preload/got.h"
#include "preload/hook.h"
#include "preload/symbol.h"
#include "preload/sys.h"

struct place; /* jmp_buf; <setjmp.h> makes another function of longjmp when it checks more */

/* clang-format off */
#define JUMPS(X)            \
	X(longjmp)          \
	X(_longjmp)         \
	X(siglongjmp)       \
	X(__longjmp_chk)
/* clang-format on */

#define NUMBER(name) N##name,
enum { JUMPS(NUMBER) NJUMPS };

#define DECLARE(name) AS_HOOK void as_jump_##name(struct place *to, int value) __asm__(#name);
JUMPS(DECLARE)

#define ROW(name) [N##name] = {#name, (void *)as_jump_##name, NULL},
struct as_got_row as_got_jumps[] = {JUMPS(ROW)};
const size_t as_got_njumps = NJUMPS;

static void *find(int n)
{
	void *f = atomic_load_explicit(&as_got_jumps[n].next, memory_order_relaxed);

	if (f)
		return f;
	f = as_symbol_next(as_got_jumps[n].name);
	atomic_store_explicit(&as_got_jumps[n].next, f, memory_order_relaxed);
	return f;
}

void as_jump_begin(void)
{
	for (int i = 0; i < NJUMPS; i++)
		(void)find(i);
}

/* --- where to ---------------------------------------------------------------------------- */

/* The stack's pointer after the jump, which libc hides a little; 0: not known. */
static uintptr_t target(const struct place *to)
{
#ifdef __x86_64__
	enum { STACK_POINTER = 6, TURNED = 17 };
	uintptr_t hidden = ((const uintptr_t *)to)[STACK_POINTER], secret;

	__asm__("mov %%fs:0x30, %0" : "=r"(secret));
	return (hidden >> TURNED | hidden << (64 - TURNED)) ^ secret;
#else
	(void)to;
	return 0;
#endif
}

/* A handler with a stack of its own, which may be anywhere, stays on it. */
static bool stays_aside(uintptr_t to)
{
	stack_t s = {0};

	return !as_sys3(SYS_sigaltstack, 0, (long)&s, 0) && (s.ss_flags & SS_ONSTACK) &&
	       to - (uintptr_t)s.ss_sp < s.ss_size;
}

/* --- what is left behind ------------------------------------------------------------------- */

static void open_locks(void)
{
	_Atomic uint32_t *const lock[] = {&as_guest.note_lock,   &as_guest.tree_lock,
					  &as_guest.code_lock,   &as_guest.module_lock,
					  &as_guest.sample_lock, &as_guest.got_lock,
					  &as_guest.ring_lock};

	for (size_t i = 0; i < sizeof lock / sizeof *lock; i++)
		if (as_lock_is_ours(lock[i]))
			as_unlock(lock[i]);
}

/* With `busy` set. */
static void abandon(struct as_guest_thread *t)
{
	open_locks();
	if (t->era != as_guest.era)
		return; /* nothing that it has is of this beginning */
	as_pywalk_end(t);
	as_native_end(t);
	atomic_fetch_add(&as_guest.heap->left, 1);
}

static __attribute__((noinline)) void leave(struct as_guest_thread *t, const struct place *place)
{
	uintptr_t to = target(place);
	bool recorded = t->busy;

	if (to <= t->frame || stays_aside(to))
		return;
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	t->inside = 0;
	t->outer.op = 0;
	t->finding = false;
	if (recorded && atomic_load(&as_guest.phase) == AS_GUEST_RECORDS)
		abandon(t);
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = 0;
}

#define JUMP(name)                                                                                 \
	void as_jump_##name(struct place *to, int value)                                           \
	{                                                                                          \
		struct as_guest_thread *t = as_this_thread();                                      \
		void (*f)(struct place *, int) = find(N##name);                                    \
                                                                                                   \
		if (AS_RARELY(t->busy || t->inside))                                               \
			leave(t, to);                                                              \
		f(to, value);                                                                      \
	}

JUMPS(JUMP)
