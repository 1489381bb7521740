/*
 * hook_map -- parts of the address space: mmap and its kin, and the break.
 *
 * Only what a program asks for itself is seen: libc's own calls do not come by,
 * and what an allocator asks for while a hook forwards to it is that hook's.
 *
 * What is mapped without access is no memory but a claim on addresses, often of
 * many GiB. It counts when it may be used: by mprotect(), or mapped over.
 */
#undef _FILE_OFFSET_BITS /* it makes mmap64 of every mmap, and we are both */
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/hook.h"
#include "preload/sys.h"

/* Within operator new too (hook_new.c), which is not `inside`. */
static bool allocators(const struct as_guest_thread *t)
{
	return t->outer.op;
}

static enum as_wire_op op_of(const struct as_guest_thread *t, size_t size, int flags)
{
	if (!(flags & MAP_ANONYMOUS))
		return AS_WIRE_OP_MAP_FILE;
	return size == t->arena ? AS_WIRE_OP_ARENA : AS_WIRE_OP_MMAP;
}

static void mapped(struct as_guest_thread *t, void *p, size_t size, int prot, int flags,
		   void *frame)
{
	if (prot != PROT_NONE) {
		as_guest_alloc(t, op_of(t, size, flags), p, size, frame);
		return;
	}
	atomic_store_explicit(&as_guest.reserves, true, memory_order_relaxed);
	as_guest_reserve(t, p, size);
}

AS_HOOK void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	void *p;

	if (AS_MISSING(mmap)) {
		long r = as_sys6(SYS_mmap, (long)at, (long)size, prot, flags, fd, off);

		return as_sys_failed(r) ? MAP_FAILED : (void *)r;
	}
	p = as_next.mmap(at, size, prot, flags, fd, off);
	if (p != MAP_FAILED && !allocators(t))
		mapped(t, p, size, prot, flags, AS_FRAME);
	return p;
}

AS_HOOK void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

AS_HOOK int mprotect(void *at, size_t size, int prot)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	int e;

	if (AS_MISSING(mprotect))
		return as_sys3(SYS_mprotect, (long)at, (long)size, prot) ? -1 : 0;
	e = as_next.mprotect(at, size, prot);
	if (!e && prot != PROT_NONE &&
	    atomic_load_explicit(&as_guest.reserves, memory_order_relaxed) && !allocators(t))
		as_guest_commit(t, at, size, AS_FRAME);
	return e;
}

AS_HOOK int munmap(void *at, size_t size)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	uint64_t claim;
	int e;

	if (AS_MISSING(munmap))
		return as_sys3(SYS_munmap, (long)at, (long)size, 0) ? -1 : 0;
	claim = as_guest_claim(t, AS_WIRE_OP_UNMAP, at, size);
	atomic_fetch_add_explicit(&as_guest.unmaps, 1, memory_order_relaxed);
	as_inside(t);
	e = as_next.munmap(at, size);
	as_outside(t);
	as_guest_settle(t, claim, AS_WIRE_OP_UNMAP, at, size, !e);
	return e;
}

static void *move(struct as_guest_thread *t, void *at, size_t old, size_t size, int flags, void *to)
{
	/* Nothing is given back of a mapping that stays. */
	bool stays = !old || (flags & MREMAP_DONTUNMAP);
	uint64_t claim = as_guest_claim(t, AS_WIRE_OP_UNMAP, stays ? NULL : at, old);
	void *p;

	as_inside(t);
	p = as_next.mremap(at, old, size, flags, to);
	as_outside(t);
	as_guest_settle(t, claim, AS_WIRE_OP_UNMAP, at, old, p != MAP_FAILED);
	return p;
}

AS_HOOK void *mremap(void *at, size_t old, size_t size, int flags, ...)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	void *p, *to = NULL;
	va_list more;

	if (AS_MISSING(mremap))
		return MAP_FAILED;
	va_start(more, flags);
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		to = va_arg(more, void *);
	va_end(more);
	p = move(t, at, old, size, flags, to);
	if (p != MAP_FAILED && !allocators(t))
		as_guest_alloc(t, AS_WIRE_OP_MMAP, p, size, AS_FRAME);
	return p;
}

/* --- the break ---------------------------------------------------------------------------- */

/* From `old` to `end`: given back when it is less. */
static uint64_t shrinks(struct as_guest_thread *t, char *old, char *end)
{
	return end < old ? as_guest_claim(t, AS_WIRE_OP_UNMAP, end, (size_t)(old - end)) : 0;
}

static void moved(struct as_guest_thread *t, uint64_t claim, char *old, char *end, bool done,
		  void *frame)
{
	if (end < old)
		as_guest_settle(t, claim, AS_WIRE_OP_UNMAP, end, (size_t)(old - end), done);
	else if (end > old && done && !allocators(t))
		as_guest_alloc(t, AS_WIRE_OP_BRK, old, (size_t)(end - old), frame);
}

AS_HOOK int brk(void *end)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	uint64_t claim;
	char *old;
	int e;

	if (AS_MISSING(brk))
		return -1;
	old = as_next.sbrk(0);
	claim = shrinks(t, old, end);
	as_inside(t);
	e = as_next.brk(end);
	as_outside(t);
	moved(t, claim, old, end, !e, AS_FRAME);
	return e;
}

AS_HOOK void *sbrk(intptr_t by)
{
	struct as_guest_thread *t = as_hooked(AS_FRAME);
	uint64_t claim;
	char *old, *p;

	if (AS_MISSING(sbrk))
		return (void *)-1;
	old = as_next.sbrk(0);
	claim = shrinks(t, old, old + by);
	as_inside(t);
	p = as_next.sbrk(by);
	as_outside(t);
	moved(t, claim, old, old + by, p != (void *)-1, AS_FRAME);
	return p;
}
