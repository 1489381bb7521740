/*
 * late N SECONDS REST -- N children at once use so much CPU each and end; their
 * parent sleeps on for REST seconds before it waits for them.
 */
#include "work.h"

enum { CHILDREN_MAX = 64 };

int main(int argc, char **argv)
{
	int n = (int)number(argc, argv, 1, 1), ends[2];
	double seconds = number(argc, argv, 2, 1), sum = 0, cpu = 0;

	if (n < 1 || n > CHILDREN_MAX || pipe(ends) < 0)
		return 99;
	for (int i = 0; i < n; i++)
		if (!fork_or_fail()) {
			burn_s(seconds);
			cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
			if (write(ends[1], &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
				fail("write");
			_exit(0);
		}
	for (int i = 0; i < n; i++, sum += cpu)
		if (read(ends[0], &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
			fail("read");
	double idle = clock_s(CLOCK_BOOTTIME);
	sleep_s(number(argc, argv, 3, 1));
	double reaped = clock_s(CLOCK_BOOTTIME);
	while (wait(NULL) > 0)
		;
	sleep_s(0.6);
	(void)printf("{\"idle\": %.6f, \"reaped\": %.6f, \"cpu_seconds\": %.9f}\n", idle, reaped,
		     sum + clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
