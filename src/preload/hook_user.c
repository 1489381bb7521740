/*
 * hook_user -- another user, or another root, does not find the way to the collector any
 * more. A child of fork() begins when it first allocates: that must not be too late.
 */
#include <errno.h>
#include <unistd.h>

#include "preload/begin.h"
#include "preload/hook.h"

#define CHANGE(name, params, args)                                                                 \
	AS_HOOK int name params                                                                    \
	{                                                                                          \
		(void)as_guest_begin(as_this_thread());                                            \
		if (AS_MISSING(name)) {                                                            \
			errno = EAGAIN;                                                            \
			return -1;                                                                 \
		}                                                                                  \
		return as_next.name args;                                                          \
	}

CHANGE(setuid, (uid_t to), (to))
CHANGE(seteuid, (uid_t to), (to))
CHANGE(setreuid, (uid_t real, uid_t to), (real, to))
CHANGE(setresuid, (uid_t real, uid_t to, uid_t saved), (real, to, saved))
CHANGE(chroot, (const char *to), (to))
