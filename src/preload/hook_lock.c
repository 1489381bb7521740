/*
 * hook_lock -- mlockall(): all that is mapped shall be in memory, and stay there.
 *
 * What we share with the collector is 391 MiB of addresses of which hardly any is in
 * use, and would become so much memory of the host's. So all is locked as far as it is
 * used, and then what is the host's is locked as it wanted, one mapping after the
 * other. That a part of it cannot be is no failure, as for the kernel it is none.
 */
#include <sys/mman.h>

#include "preload/hook.h"
#include "preload/maps.h"
#include "preload/sys.h"

static bool is_ours(const struct as_maps_line *l)
{
	uintptr_t at = (uintptr_t)as_guest.heap;

	return l->start >= at && l->end <= at + as_guest.shared;
}

static bool lock_host(void)
{
	struct as_maps m;
	struct as_maps_line l;

	if (!as_maps_open(&m))
		return false;
	while (as_maps_next(&m, "[vsyscall]", &l))
		if (!l.named && !is_ours(&l))
			as_sys3(SYS_mlock, (long)l.start, (long)(l.end - l.start), 0);
	as_maps_close(&m);
	return true;
}

AS_HOOK int mlockall(int flags)
{
	bool fills = (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT);
	int e;

	if (AS_MISSING(mlockall))
		return as_sys3(SYS_mlockall, flags, 0, 0) ? -1 : 0;
	if (!fills || !as_guest.heap)
		return as_next.mlockall(flags);
	e = as_next.mlockall(MCL_CURRENT | MCL_ONFAULT);
	if (e || !lock_host())
		return e ? e : as_next.mlockall(flags);
	return flags & MCL_FUTURE ? as_next.mlockall(MCL_FUTURE) : 0;
}
