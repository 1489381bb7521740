/*
 * hook_lock -- mlockall(): all that is mapped shall be in memory, and stay there.
 *
 * What we share with the collector is 391 MiB of addresses of which hardly any is in
 * use, and would become so much memory of the host's. So all is locked as far as it is
 * used, and then what is the host's is locked as it wanted, one mapping after the
 * other. That a part of it cannot be is no failure, as for the kernel it is none.
 *
 * Nor are those addresses the host's where there is a limit: the kernel's is on all
 * that is mapped. If the host's own are within it, they are locked one by one.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/hook.h"
#include "preload/maps.h"
#include "preload/sys.h"

static bool is_ours(const struct as_maps_line *l)
{
	uintptr_t at = (uintptr_t)as_guest.heap;

	return l->start >= at && l->end <= at + as_guest.shared;
}

enum how { COUNT, LOCK, LOCK_USED };

/* What is done with each mapping of the host's; how many bytes they are. */
static bool each_of_host(enum how how, uint64_t *ret_bytes)
{
	struct as_maps m;
	struct as_maps_line l;

	*ret_bytes = 0;
	if (!as_maps_open(&m))
		return false;
	while (as_maps_next(&m, "[vsyscall]", &l)) {
		if (l.named || is_ours(&l))
			continue;
		*ret_bytes += l.end - l.start;
		if (how != COUNT)
			as_sys3(SYS_mlock2, (long)l.start, (long)(l.end - l.start),
				how == LOCK ? 0 : MLOCK_ONFAULT);
	}
	as_maps_close(&m);
	return true;
}

static bool within_limit(void)
{
	struct rlimit limit = {0};
	uint64_t bytes;

	return !as_sys6(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit, 0, 0) &&
	       each_of_host(COUNT, &bytes) && bytes <= limit.rlim_cur;
}

/* All, as far as it is used. */
static int lock_used(void)
{
	uint64_t bytes;
	int was = errno, e = as_next.mlockall(MCL_CURRENT | MCL_ONFAULT);

	if (!e || errno != ENOMEM || !within_limit() || !each_of_host(LOCK_USED, &bytes))
		return e;
	errno = was;
	return 0;
}

/* Flags that nobody knows are the kernel's to refuse. */
static bool locks_what_is_there(int flags)
{
	return (flags & MCL_CURRENT) && !(flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT));
}

AS_HOOK int mlockall(int flags)
{
	uint64_t bytes;

	if (AS_MISSING(mlockall))
		return as_sys3(SYS_mlockall, flags, 0, 0) ? -1 : 0;
	if (!as_guest.heap || !locks_what_is_there(flags))
		return as_next.mlockall(flags);
	int e = lock_used();
	if (e)
		return e;
	if (!(flags & MCL_ONFAULT) && !each_of_host(LOCK, &bytes))
		return as_next.mlockall(flags);
	return flags & MCL_FUTURE ? as_next.mlockall(flags & ~MCL_CURRENT) : 0;
}
