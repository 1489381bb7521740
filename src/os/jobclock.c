#include "os/jobclock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/cleanup.h"
#include "os/proc.h"

/* The command may have any of the lowest descriptors closed; 0 is our word for none. */
enum { LEAST_FD = 3 };

/* ASSAY_RUNG holds tests to one way of knowing. */
static bool held_to_another(void)
{
	const char *only = getenv("ASSAY_RUNG");

	return only && strcmp(only, "perf") != 0;
}

int as_jobclock_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1, /* what this clock does not heed, but the permission does */
		.exclude_hv = 1,
	};

	errno = EACCES;
	if (held_to_another())
		return 0;
	as_auto_fd int fd =
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int clock = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD);

	return clock < 0 ? 0 : clock;
}

int64_t as_jobclock_read(int clock)
{
	int64_t ns;

	as_called(1);
	return read(clock, &ns, sizeof ns) == (ssize_t)sizeof ns ? ns : AS_PROC_NA;
}
