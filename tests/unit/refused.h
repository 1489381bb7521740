#pragma once
/* refused -- where the kernel lets us load programs, ours not loading is no reason to skip. */
#include "utest.h"

#include "os/try.h"

#define SKIP_REFUSED(err)                                                                          \
	do {                                                                                       \
		if ((err).code != AS_EUNSUP && as_try_bpf() == 0 &&                                \
		    access("/sys/kernel/btf/vmlinux", R_OK) == 0)                                  \
			UTEST_FAIL("%s (%s)", (err).msg, (err).hint);                              \
		SKIP("%s", (err).msg);                                                             \
	} while (0)
