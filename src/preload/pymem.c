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

static inline void *forward_malloc(struct as_guest_thread *t, const struct allocator *next,
				   size_t size)
{
	as_inside(t);
	void *p = next->malloc(next->ctx, size);
	as_outside(t);
	return p;
}

static inline void *forward_calloc(struct as_guest_thread *t, const struct allocator *next,
				   size_t n, size_t size)
{
	as_inside(t);
	void *p = next->calloc(next->ctx, n, size);
	as_outside(t);
	return p;
}

static inline void *forward_realloc(struct as_guest_thread *t, const struct allocator *next,
				    void *old, size_t size)
{
	as_inside(t);
	void *p = next->realloc(next->ctx, old, size);
	as_outside(t);
	return p;
}

/*
 * Where only some are recorded nearly all pass by, and that is known before they are
 * made: there is nothing to be kept meanwhile. One that then cannot be made has
 * moved the next sample, which is as far away as ever.
 */
static inline bool passes(struct as_guest_thread *t, size_t size)
{
	return as_guest.samples && !t->inside && as_sample_passes(t, size);
}

/* Was it surely not recorded? */
static inline bool passed(const void *address)
{
	return as_guest.samples && !as_sample_may_have(address);
}

/* What was made is told, unless it was within another hook. */
static inline void tell(struct as_guest_thread *t, enum as_wire_op op, const void *p, size_t size,
			void *frame)
{
	if (p && !t->inside)
		as_guest_object(t, op, p, size, frame);
}

static void *py_malloc(void *ctx, size_t size)
{
	struct as_guest_thread *t = as_this_thread();

	if (passes(t, size))
		return forward_malloc(t, ctx, size);
	void *p = forward_malloc(t, ctx, size);

	tell(t, AS_WIRE_OP_OBJECT_MALLOC, p, size, __builtin_frame_address(0));
	return p;
}

static void *py_calloc(void *ctx, size_t n, size_t size)
{
	struct as_guest_thread *t = as_this_thread();

	if (passes(t, n * size))
		return forward_calloc(t, ctx, n, size);
	void *p = forward_calloc(t, ctx, n, size);

	tell(t, AS_WIRE_OP_OBJECT_CALLOC, p, n * size, __builtin_frame_address(0));
	return p;
}

static void *py_realloc(void *ctx, void *old, size_t size)
{
	struct as_guest_thread *t = as_this_thread();

	/* Asked whatever the old one was: each byte that is made brings the next sample nearer. */
	bool pass = passes(t, size);

	if (pass && passed(old))
		return forward_realloc(t, ctx, old, size);
	uint64_t claim = as_guest_claim(t, AS_WIRE_OP_OBJECT_FREE, old, 0);
	void *p = forward_realloc(t, ctx, old, size);

	as_guest_settle(t, claim, AS_WIRE_OP_OBJECT_FREE, old, 0, p != NULL);
	if (!pass)
		tell(t, AS_WIRE_OP_OBJECT_REALLOC, p, size, __builtin_frame_address(0));
	return p;
}

static __attribute__((noinline)) void free_told(const struct allocator *next, void *p)
{
	struct as_guest_thread *t = as_this_thread();

	as_guest_object_free(t, p);
	as_inside(t);
	next->free(next->ctx, p);
	as_outside(t);
}

/* An arena that the next one gives back was not told when it was made, nor is it known now. */
static void py_free(void *ctx, void *p)
{
	const struct allocator *next = ctx;

	if (passed(p))
		next->free(next->ctx, p);
	else
		free_told(next, p);
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
