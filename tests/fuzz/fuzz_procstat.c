/* What /proc/{stat,meminfo,loadavg,pressure,diskstats} say, as bytes from anywhere. */
#include <stdlib.h>
#include <string.h>

#include "os/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every line of cores, as cores.c walks them: it must come to an end within the text. */
static void walk_cores(const char *p, size_t n)
{
	struct as_cpu_times t;

	for (size_t at = 0, used; (used = as_parse_cpu(p + at, n - at, &t)); at += used) {
		if (used > n - at || t.cpu < -1 || t.idle < 0)
			abort();
		if (as_ticks_ns(t.user, 100) < 0 && as_ticks_ns(t.user, 100) != AS_TEXT_NA)
			abort();
	}
}

static void walk_disks(const char *p, size_t n)
{
	struct as_disk_stat d;

	for (size_t at = 0, used; (used = as_parse_disk(p + at, n - at, &d)); at += used)
		if (used > n - at || memchr(d.name, '\0', sizeof d.name) == NULL ||
		    (d.busy_ns < 0 && d.busy_ns != AS_TEXT_NA))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	struct as_pressure psi;
	struct as_meminfo m;
	int64_t load[3];
	uint64_t ready;

	walk_cores(p, size);
	walk_disks(p, size);
	if (as_parse_meminfo(p, size, &m) &&
	    (m.total < 0 || (m.used != AS_TEXT_NA && m.used > m.total)))
		abort();
	if (as_parse_loadavg(p, size, load) && (load[0] < 0 || load[1] < 0 || load[2] < 0))
		abort();
	(void)as_parse_ready(p, size, &ready);
	if (as_parse_pressure(p, size, &psi) && psi.some < 0)
		abort();
	return 0;
}
