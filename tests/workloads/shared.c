/*
 * shared MIB N [private | both | copied [SECONDS]] -- the same memory in N + 1
 * processes for so long (1.5): one mapping that all have touched; with
 * `private` the pages of a parent that its children have not copied; with
 * `both` two thirds of the latter and one of the former; with `copied` the
 * pages of a parent, of which each child has made copies of its own.
 */
#include "work.h"

struct region {
	const char *p;
	long bytes;
	bool private;
};

static void touch(struct region r, bool copy)
{
	volatile char *q = (volatile char *)(uintptr_t)r.p;

	for (long i = 0; i < r.bytes; i += 4096) {
		if (r.private && !copy)
			(void)q[i];
		else
			q[i] = 2;
	}
}

static struct region region(long bytes, bool private)
{
	return (struct region){touched(bytes, private ? MAP_PRIVATE : MAP_SHARED), bytes, private};
}

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 1, 10) * MIB;
	int n = (int)number(argc, argv, 2, 3);
	bool both = argc > 3 && !strcmp(argv[3], "both");
	bool copy = argc > 3 && !strcmp(argv[3], "copied");
	bool private = both || copy || (argc > 3 && !strcmp(argv[3], "private"));
	struct region main_part = region(both ? bytes / 3 * 2 : bytes, private);
	struct region rest = both ? region(bytes / 3, false) : (struct region){0};

	for (int i = 0; i < n; i++)
		if (!fork_or_fail()) {
			touch(main_part, copy);
			touch(rest, copy);
			sleep_s(number(argc, argv, 4, 1.5));
			_exit(0);
		}
	for (int i = 0; i < n; i++)
		(void)wait(NULL);
	(void)printf("{\"bytes\": %ld, \"processes\": %d}\n", copy ? bytes * (n + 1) : bytes,
		     n + 1);
	return 0;
}
