#pragma once
/* refused -- where the kernel lets us load programs, ours not loading is no reason to skip. */
#include "utest.h"

#include "os/try.h"

/* ThreadSanitizer starts a thread of its own in each process, and takes memory: both are told. */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define SKIP_TSAN() SKIP("a sanitizer's own threads would be counted")
#endif
#endif
#ifndef SKIP_TSAN
#define SKIP_TSAN() ((void)0)
#endif

#define SKIP_REFUSED(err)                                                                          \
	do {                                                                                       \
		if ((err).code != AS_EUNSUP && as_try_bpf() == 0 &&                                \
		    access("/sys/kernel/btf/vmlinux", R_OK) == 0)                                  \
			UTEST_FAIL("%s (%s)", (err).msg, (err).hint);                              \
		SKIP("%s", (err).msg);                                                             \
	} while (0)
