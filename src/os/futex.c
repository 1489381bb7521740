#include "os/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/clock.h"

void as_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = as_timespec(ns);

	as_called(1);
	(void)syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void as_futex_wake(_Atomic uint32_t *word)
{
	as_called(1);
	(void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void as_futex_sleep(_Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
	struct timespec t = as_timespec(until_ns);

	(void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, &t, NULL,
		      FUTEX_BITSET_MATCH_ANY);
}

void as_futex_rouse(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
