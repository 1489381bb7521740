/*
 * pyarena -- where CPython's own allocator gets its memory: arenas of 256 KiB or more.
 *
 * It keeps small objects of every line in them, so an arena is not of the line that
 * happened to need one. Whether a mapping is one we know from the interpreter itself:
 * it asks for each through a function of its own, and we stand before that one. What
 * that function does meanwhile is seen by our other hooks: hook_map.c tells the
 * mapping of just that size as an arena.
 *
 * From 3.11 on frames are made of chunks that come the same way, 16 KiB each; one as
 * large as an arena would be for a function of 32 Ki variables.
 *
 * Only one word of the interpreter's is changed, so nobody must wait meanwhile.
 */
#include "preload/pyhost.h"

enum { ARENA_LEAST = 256 << 10 };

/* PyObjectArenaAllocator, from 3.4 on. */
struct arenas {
	void *ctx;
	void *(*alloc)(void *ctx, size_t size);
	void (*free)(void *ctx, void *p, size_t size);
};

/* The one that we found. */
static void *(*_Atomic as_pyarena_next)(void *ctx, size_t size);

static void *arena_alloc(void *ctx, size_t size)
{
	struct as_guest_thread *t = as_this_thread();
	void *(*next)(void *, size_t) = atomic_load(&as_pyarena_next), *p;

	t->arena = size >= ARENA_LEAST ? size : 0;
	p = next(ctx, size);
	t->arena = 0;
	return p;
}

void as_pyarena_install(void)
{
	struct arenas now;

	if (!as_pyhost.api.get_arenas || !as_pyhost.api.set_arenas)
		return;
	as_pyhost.api.get_arenas(&now);
	if (!now.alloc || now.alloc == arena_alloc)
		return;
	atomic_store(&as_pyarena_next, now.alloc);
	now.alloc = arena_alloc;
	as_pyhost.api.set_arenas(&now);
}

void as_pyarena_remove(void)
{
	struct arenas now;

	if (!as_pyhost.api.get_arenas || !as_pyhost.api.set_arenas)
		return;
	as_pyhost.api.get_arenas(&now);
	if (now.alloc != arena_alloc)
		return;
	now.alloc = atomic_load(&as_pyarena_next);
	as_pyhost.api.set_arenas(&now);
}
