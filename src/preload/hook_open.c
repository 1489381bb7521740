/*
 * hook_open -- libraries that are opened to see their own before all others
 * (RTLD_DEEPBIND): what they call of libc passes us by, and their words are patched.
 *
 * A name without a path is sought where the caller of dlopen() says, so we cannot be
 * that: it is passed on by a jump, as everything else is, and it is said that what
 * the library allocates may be missing.
 *
 * Where there are allocators with more than malloc (hook_api.c) all that come are
 * looked at.
 */
#include <dlfcn.h>
#include <string.h>

#include "preload/got.h"
#include "preload/hook.h"
#include "preload/symbol.h"

static _Atomic(void *) following;

AS_HOOK void *as_open(const char *file, int mode) __asm__("dlopen");

static void *find(void)
{
	void *f = atomic_load_explicit(&following, memory_order_relaxed);

	if (f)
		return f;
	f = as_symbol_next("dlopen");
	atomic_store_explicit(&following, f, memory_order_relaxed);
	return f;
}

static __attribute__((noinline)) void *open_and_look(const char *file, int mode)
{
	void *(*next)(const char *, int) = find();
	void *handle = next(file, mode);

	if (handle)
		as_got_past_us();
	return handle;
}

void *as_open(const char *file, int mode)
{
	void *(*next)(const char *, int) = find();

	if (!next)
		return NULL;
	if (!((mode & RTLD_DEEPBIND) || as_got_looks()) || !file || as_guest.attached ||
	    atomic_load(&as_guest.phase) != AS_GUEST_RECORDS)
		return next(file, mode);
	if (strchr(file, '/') && !strchr(file, '$'))
		return open_and_look(file, mode);
	if (mode & RTLD_DEEPBIND)
		as_guest.heap->why = AS_WIRE_WHY_DEEPBIND;
	return next(file, mode);
}
