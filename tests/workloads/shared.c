/*
 * shared MIB N [private] -- the same memory in N + 1 processes for 1.5
 * seconds: one mapping that all have touched; with `private` the pages of a
 * parent that its children have not copied.
 */
#include "work.h"

static void child(const char *p, long bytes, bool private)
{
	volatile char *q = (volatile char *)(uintptr_t)p;

	for (long i = 0; i < bytes; i += 4096) {
		if (private)
			(void)q[i];
		else
			q[i] = 2;
	}
	sleep_s(1.5);
	_exit(0);
}

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 1, 10) * MIB;
	int n = (int)number(argc, argv, 2, 3);
	bool private = argc > 3 && !strcmp(argv[3], "private");
	const char *p = touched(bytes, private ? MAP_PRIVATE : MAP_SHARED);

	for (int i = 0; i < n; i++)
		if (!fork_or_fail())
			child(p, bytes, private);
	for (int i = 0; i < n; i++)
		(void)wait(NULL);
	(void)printf("{\"bytes\": %ld, \"processes\": %d}\n", bytes, n + 1);
	return 0;
}
