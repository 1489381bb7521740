/*
 * pymem -- CPython's objects: its allocators of the domains MEM and OBJ.
 *
 * We stand before the ones that are there, and pass everything on to them: what
 * was made before us is given back as if we were not. Whatever they ask of
 * malloc or mmap themselves -- arenas, large objects -- is inside of a hook, so
 * it is not told again.
 *
 * That happens as soon as there is a Python, before it has made anything. Its
 * start may choose other allocators (PYTHONMALLOC), so we look again later.
 */
#include "preload/pyhost.h"
#include "preload/record.h"

enum { DOMAIN_MEM = 1, DOMAIN_OBJ = 2, DOMAINS = 3 };

/* PyMemAllocatorEx, from 3.5 on. */
struct allocator {
	void *ctx;
	void *(*malloc)(void *ctx, size_t size);
	void *(*calloc)(void *ctx, size_t n, size_t size);
	void *(*realloc)(void *ctx, void *old, size_t size);
	void (*free)(void *ctx, void *p);
};

/* Those that we found, the first time and the second. */
enum { TIMES = 2 };
static struct allocator as_pymem_next[TIMES][DOMAINS];

static void *py_malloc(void *ctx, size_t size)
{
	const struct allocator *next = ctx;
	struct as_guest_thread *t = as_this_thread();

	as_inside(t);
	void *p = next->malloc(next->ctx, size);
	as_outside(t);
	as_guest_alloc(t, AS_WIRE_OP_OBJECT_MALLOC, p, size, __builtin_frame_address(0));
	return p;
}

static void *py_calloc(void *ctx, size_t n, size_t size)
{
	const struct allocator *next = ctx;
	struct as_guest_thread *t = as_this_thread();

	as_inside(t);
	void *p = next->calloc(next->ctx, n, size);
	as_outside(t);
	as_guest_alloc(t, AS_WIRE_OP_OBJECT_CALLOC, p, n * size, __builtin_frame_address(0));
	return p;
}

static void *py_realloc(void *ctx, void *old, size_t size)
{
	const struct allocator *next = ctx;
	struct as_guest_thread *t = as_this_thread();
	uint64_t claim = as_guest_claim(t, AS_WIRE_OP_OBJECT_FREE, old, 0);

	as_inside(t);
	void *p = next->realloc(next->ctx, old, size);
	as_outside(t);
	as_guest_settle(t, claim, AS_WIRE_OP_OBJECT_FREE, old, 0, p != NULL);
	as_guest_alloc(t, AS_WIRE_OP_OBJECT_REALLOC, p, size, __builtin_frame_address(0));
	return p;
}

static void py_free(void *ctx, void *p)
{
	const struct allocator *next = ctx;
	struct as_guest_thread *t = as_this_thread();

	as_guest_free(t, AS_WIRE_OP_OBJECT_FREE, p);
	as_inside(t);
	next->free(next->ctx, p);
	as_outside(t);
}

/*
 * Who found us may have put himself before us, or others in our place. Either
 * way we are the first again: what we pass on comes back to us inside of a hook.
 */
static void stand_before(int domain)
{
	int time = as_pymem_next[0][domain].malloc ? 1 : 0;
	struct allocator *next = &as_pymem_next[time][domain];
	struct allocator now, ours = {next, py_malloc, py_calloc, py_realloc, py_free};

	as_pyhost.api.get_allocator(domain, &now);
	if (now.malloc == py_malloc || next->malloc)
		return;
	*next = now;
	as_pyhost.api.set_allocator(domain, &ours);
}

static void stand_aside(int domain)
{
	struct allocator now, *next;

	as_pyhost.api.get_allocator(domain, &now);
	if (now.malloc != py_malloc)
		return;
	next = now.ctx;
	as_pyhost.api.set_allocator(domain, next);
	*next = (struct allocator){0};
}

void as_pymem_remove(void)
{
	if (!as_pyhost.api.get_allocator || !as_pyhost.api.set_allocator)
		return;
	stand_aside(DOMAIN_MEM);
	stand_aside(DOMAIN_OBJ);
}

void as_pymem_install(void)
{
	if (!(as_guest.flags & AS_WIRE_HEAP_OBJECTS) || !as_pyhost.api.get_allocator ||
	    !as_pyhost.api.set_allocator)
		return;
	stand_before(DOMAIN_MEM);
	stand_before(DOMAIN_OBJ);
}
