/* What files of /proc/PID say (stat, io, syscall, environ …), as bytes from anywhere. */
#include <stddef.h>
#include <stdint.h>

#include "os/call.h"
#include "os/proc.h"
#include "os/seek.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct as_proc_status status;
	struct as_proc_sched sched;
	struct as_proc_stat stat;
	struct as_proc_rollup rollup;
	struct as_proc_clocks clocks;
	struct as_proc_ids ids;
	struct as_proc_io io;
	struct as_call call;
	size_t len;

	(void)as_parse_stat(p, size, &stat);
	as_parse_status(p, size, &status);
	(void)as_parse_rollup(p, size, &rollup);
	as_parse_io(p, size, &io);
	(void)as_parse_sched(p, size, &sched);
	(void)as_parse_clocks(p, size, &clocks);
	(void)as_parse_call(p, size, &call);
	(void)as_parse_ids(p, size, &ids);
	(void)as_environ_find(p, size, "GIT_COMMIT", &len);
	return 0;
}
