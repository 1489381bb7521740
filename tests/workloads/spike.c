/*
 * spike MIB MILLISECONDS [BEFORE_MS [children]] -- needs so much memory for
 * so short a moment, BEFORE_MS after its start, and then stays as long again
 * without it. With `children` the moment is that of two children, one after
 * the other: memory that no two samples need ever see.
 */
#include "work.h"

static void need(long bytes, double seconds)
{
	char *p = touched(bytes, MAP_PRIVATE);

	sleep_s(seconds);
	(void)munmap(p, (size_t)bytes);
}

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 1, 10) * MIB;
	double seconds = number(argc, argv, 2, 20) / 1000;
	double before = number(argc, argv, 3, 1200) / 1000;

	sleep_s(before);
	if (argc < 5)
		need(bytes, seconds);
	for (int i = 0; argc >= 5 && i < 2; i++) {
		pid_t pid = fork_or_fail();

		if (!pid) {
			need(bytes, seconds);
			_exit(0);
		}
		wait_for(pid);
	}
	sleep_s(before);
	(void)printf("{\"bytes\": %ld}\n", bytes);
	return 0;
}
