#include "preload/guest.h"

#include <sys/mman.h>
#include <time.h>

#include "preload/sys.h"

struct as_guest as_guest;
_Thread_local struct as_guest_thread as_guest_thread AS_GUEST_TLS;

void *as_guest_pages(size_t bytes)
{
	long p = as_sys6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return as_sys_failed(p) ? NULL : (void *)p;
}

void as_guest_pages_back(void *pages, size_t bytes)
{
	if (pages)
		as_sys3(SYS_munmap, (long)pages, (long)bytes, 0);
}

/* Not 0, and no two threads of a process have the same. */
static uint32_t own_mark(void)
{
	return (uint32_t)((uintptr_t)as_this_thread() >> 4) | 1;
}

bool as_lock_try(_Atomic uint32_t *lock)
{
	uint32_t open = 0;

	return atomic_compare_exchange_strong_explicit(lock, &open, own_mark(),
						       memory_order_acquire, memory_order_relaxed);
}

bool as_lock_is_ours(const _Atomic uint32_t *lock)
{
	return atomic_load_explicit(lock, memory_order_relaxed) == own_mark();
}

/* It sleeps in the end: who holds it may have to run on this very processor. */
void as_lock(_Atomic uint32_t *lock)
{
	struct timespec nap = {.tv_nsec = 50000};

	for (int tries = 0; !as_lock_try(lock); tries++)
		if (tries < 100)
			as_sys3(SYS_sched_yield, 0, 0, 0);
		else
			as_sys3(SYS_nanosleep, (long)&nap, 0, 0);
}

void as_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}
