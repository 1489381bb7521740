#pragma once
/*
 * jobclock -- the CPU time of a command and all that comes of it, by the kernel's own clock.
 *
 * A software event of perf that children inherit: it has also those that nobody
 * waits for and that no sample sees. Any user may have one unless
 * kernel.perf_event_paranoid is above 2. It does not tell user code from the
 * kernel's.
 */
#include <stdint.h>

/* By the thread that forks, before it does; counts from its children's exec. 0: refused (errno). */
int as_jobclock_open(void);
/* What was used so far, of the living and the dead, in ns; AS_PROC_NA: not to be had. */
int64_t as_jobclock_read(int clock);
