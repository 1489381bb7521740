/*
 * hook_malloc -- the malloc family.
 *
 * realloc() is a free and an allocation: the number of the free is taken before,
 * because from then on others may get the old address, and it is written after,
 * because the call may fail. A block from before the allocator was found
 * (as_early) is nobody's: it is copied by realloc() and otherwise left.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/hook.h"

void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);

AS_HOOK void *malloc(size_t size)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	void *p;

	if (AS_MISSING(malloc))
		return as_early(0, size);
	as_inside(t);
	p = as_next.malloc(size);
	as_outside(t);
	as_guest_alloc(t, AS_WIRE_OP_MALLOC, p, size, AS_FRAME);
	return p;
}

AS_HOOK void *calloc(size_t n, size_t size)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	void *p;

	if (AS_MISSING(calloc))
		return size && n > SIZE_MAX / size ? NULL : as_early(0, n * size);
	as_inside(t);
	p = as_next.calloc(n, size);
	as_outside(t);
	as_guest_alloc(t, AS_WIRE_OP_CALLOC, p, n * size, AS_FRAME);
	return p;
}

AS_HOOK void free(void *p)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);

	if (AS_RARELY(as_early_is(p)) || AS_MISSING(free))
		return;
	as_guest_free(t, AS_WIRE_OP_FREE, p);
	as_inside(t);
	as_next.free(p);
	as_outside(t);
}

AS_HOOK void free_sized(void *p, size_t size)
{
	(void)size;
	free(p);
}

AS_HOOK void free_aligned_sized(void *p, size_t align, size_t size)
{
	(void)align;
	(void)size;
	free(p);
}

/* --- realloc ------------------------------------------------------------------------------ */

static void *realloc_early(void *p, size_t size)
{
	size_t had = as_early_rest(p);
	void *to = malloc(size);

	if (to)
		memcpy(to, p, had < size ? had : size);
	return to;
}

static void *resize(void *p, size_t size, void *frame)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	uint64_t claim;
	void *to;

	if (AS_MISSING(realloc))
		return as_early(0, size);
	if (AS_RARELY(p && as_early_is(p)))
		return realloc_early(p, size);
	claim = as_guest_claim(t, AS_WIRE_OP_FREE, p, 0);
	as_inside(t);
	to = as_next.realloc(p, size);
	as_outside(t);
	as_guest_settle(t, claim, AS_WIRE_OP_FREE, p, 0, to || !size);
	as_guest_alloc(t, AS_WIRE_OP_REALLOC, to, size, frame);
	return to;
}

AS_HOOK void *realloc(void *p, size_t size)
{
	return resize(p, size, AS_FRAME);
}

AS_HOOK void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(p, bytes, AS_FRAME);
}

/* --- aligned ------------------------------------------------------------------------------ */

AS_HOOK int posix_memalign(void **ret, size_t align, size_t size)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	int e;

	if (AS_MISSING(posix_memalign)) {
		*ret = as_early(align, size);
		return *ret ? 0 : ENOMEM;
	}
	as_inside(t);
	e = as_next.posix_memalign(ret, align, size);
	as_outside(t);
	as_guest_alloc(t, AS_WIRE_OP_ALIGNED, e ? NULL : *ret, size, AS_FRAME);
	return e;
}

#define ALIGNED(name, params, args, early)                                                         \
	AS_HOOK void *name params                                                                  \
	{                                                                                          \
		struct as_guest_thread *t = as_hooked(AS_FRAME);                                   \
		void *p;                                                                           \
                                                                                                   \
		if (AS_MISSING(name))                                                              \
			return as_early(early, size);                                              \
		as_inside(t);                                                                      \
		p = as_next.name args;                                                             \
		as_outside(t);                                                                     \
		as_guest_alloc(t, AS_WIRE_OP_ALIGNED, p, size, AS_FRAME);                          \
		return p;                                                                          \
	}

ALIGNED(aligned_alloc, (size_t align, size_t size), (align, size), align)
ALIGNED(memalign, (size_t align, size_t size), (align, size), align)
ALIGNED(valloc, (size_t size), (size), AS_GUEST_PAGE)
ALIGNED(pvalloc, (size_t size), (size), AS_GUEST_PAGE)
