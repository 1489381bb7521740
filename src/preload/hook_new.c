/*
 * hook_new -- C++'s operators new and delete, in all their forms, by the names
 * that the linker knows; no library of C++ is linked.
 *
 * Most operators new call malloc(), whose hook then tells the allocation as
 * what was asked for here (`outer`). An allocator with operators of its own
 * does not: then we do, afterwards. The call may throw through us, and may run
 * the host's handler for want of memory; so nothing is held meanwhile, and an
 * `outer` that was left behind is recognized by its size.
 *
 * Who comes next is the next in the order of the loader; and when a library of
 * C++ came with a module that was loaded for itself (RTLD_LOCAL: an extension of
 * Python), then it is what that module, our caller, sees.
 */
#include "preload/got.h"
#include "preload/hook.h"
#include "preload/module.h"
#include "preload/symbol.h"

struct nothrow;

/* clang-format off */
#define NEWS(X)                                                                              \
	X(_Znwm,                              (size_t size), (size))                           \
	X(_Znam,                              (size_t size), (size))                           \
	X(_ZnwmRKSt9nothrow_t,                (size_t size, struct nothrow *n), (size, n))     \
	X(_ZnamRKSt9nothrow_t,                (size_t size, struct nothrow *n), (size, n))     \
	X(_ZnwmSt11align_val_t,               (size_t size, size_t a), (size, a))              \
	X(_ZnamSt11align_val_t,               (size_t size, size_t a), (size, a))              \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, struct nothrow *n), (size, a, n)) \
	X(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t a, struct nothrow *n), (size, a, n))

#define DELETES(X)                                                                           \
	X(_ZdlPv,                             (void *p), (p))                                  \
	X(_ZdaPv,                             (void *p), (p))                                  \
	X(_ZdlPvm,                            (void *p, size_t size), (p, size))               \
	X(_ZdaPvm,                            (void *p, size_t size), (p, size))               \
	X(_ZdlPvRKSt9nothrow_t,               (void *p, struct nothrow *n), (p, n))            \
	X(_ZdaPvRKSt9nothrow_t,               (void *p, struct nothrow *n), (p, n))            \
	X(_ZdlPvSt11align_val_t,              (void *p, size_t a), (p, a))                     \
	X(_ZdaPvSt11align_val_t,              (void *p, size_t a), (p, a))                     \
	X(_ZdlPvmSt11align_val_t,             (void *p, size_t size, size_t a), (p, size, a))  \
	X(_ZdaPvmSt11align_val_t,             (void *p, size_t size, size_t a), (p, size, a))  \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, struct nothrow *n), (p, a, n)) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, struct nothrow *n), (p, a, n))
/* clang-format on */

#define NUMBER(name, params, args) N##name,
enum { NEWS(NUMBER) DELETES(NUMBER) OPERATORS };

#define DECLARE_NEW(name, params, args)    void *name params;
#define DECLARE_DELETE(name, params, args) void name params;
NEWS(DECLARE_NEW)
DELETES(DECLARE_DELETE)

#define ROW(name, params, args) [N##name] = {#name, (void *)name, NULL},
struct as_got_row as_got_operators[] = {NEWS(ROW) DELETES(ROW)};
const size_t as_got_noperators = OPERATORS;

/*
 * Whose call it is. An operator of a library that only jumps to another is nobody's caller:
 * that call seems to be ours, who called the first. Then it is of the library of that one.
 */
static const struct link_map *home_of(const void *caller)
{
	const struct link_map *map = as_module_map(caller);

	if (map != as_module_map(as_got_operators))
		return map;
	for (size_t i = 0; i < OPERATORS; i++) {
		void *next = atomic_load_explicit(&as_got_operators[i].next, memory_order_relaxed);

		if (next)
			return as_module_map(next);
	}
	return NULL;
}

static void *seek(const char *name, const void *caller)
{
	void *found = as_symbol_next(name);
	const struct link_map *map;

	if (found)
		return found;
	map = home_of(caller);
	return map && !AS_MISSING(dlclose) ? as_module_symbol(map, name) : NULL;
}

static void *find(struct as_guest_thread *t, int n, const char *name, const void *caller)
{
	_Atomic(void *) *next = &as_got_operators[n].next;
	void *f = atomic_load_explicit(next, memory_order_relaxed);

	if (f)
		return f;
	as_inside(t);
	f = seek(name, caller);
	as_outside(t);
	atomic_store_explicit(next, f, memory_order_relaxed);
	return f;
}

/* new[] that calls new is asked for by the former's caller. */
void as_new_asked(struct as_guest_thread *t, size_t size, void *frame)
{
	if (t->outer.op && t->outer.size == size && (char *)frame < (char *)t->outer.frame)
		return;
	t->outer.op = AS_WIRE_OP_NEW;
	t->outer.size = size;
	t->outer.frame = frame;
}

void as_new_got(struct as_guest_thread *t, const void *p, size_t size, void *frame)
{
	if (!t->outer.op)
		return;
	t->outer.op = 0;
	as_guest_alloc(t, AS_WIRE_OP_NEW, p, size, frame);
}

/* Where nobody else has one: as good as can be without a library of C++. */
static void *last_resort(size_t size)
{
	void *p = AS_MISSING(malloc) ? NULL : as_next.malloc(size ? size : 1);

	if (!p)
		__builtin_trap();
	return p;
}

#define NEW(name, params, args)                                                                    \
	AS_HOOK void *name params                                                                  \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void *(*f)params = find(t, N##name, #name, __builtin_return_address(0));           \
		void *p;                                                                           \
                                                                                                   \
		as_new_asked(t, size, AS_FRAME);                                                   \
		p = f ? f args : last_resort(size);                                                \
		as_new_got(t, p, size, AS_FRAME);                                                  \
		return p;                                                                          \
	}

#define DELETE(name, params, args)                                                                 \
	AS_HOOK void name params                                                                   \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void(*f) params = find(t, N##name, #name, __builtin_return_address(0));            \
                                                                                                   \
		if (AS_RARELY(as_early_is(p)) || AS_MISSING(free))                                 \
			return;                                                                    \
		as_guest_free(t, AS_WIRE_OP_FREE, p);                                              \
		as_inside(t);                                                                      \
		f ? f args : as_next.free(p);                                                      \
		as_outside(t);                                                                     \
	}

NEWS(NEW)
DELETES(DELETE)
