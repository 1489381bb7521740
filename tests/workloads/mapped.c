/*
 * mapped FILE MIB [child] -- has a file in its address space and looks at every page of it for a
 * while. With `child` a child does so, for 20 ms: no two samples need ever see it.
 */
#include "work.h"

static void fill(int fd, long bytes)
{
	static char block[65536];

	for (long done = 0; done < bytes; done += (long)sizeof block)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			fail("write");
}

static void map_s(int fd, long bytes, double seconds)
{
	volatile const char *p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	for (long i = 0; i < bytes; i += 4096)
		(void)p[i];
	sleep_s(seconds);
}

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 2, 10) * MIB;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fail("open");
	fill(fd, bytes);
	if (argc < 4) {
		map_s(fd, bytes, 1.5);
	} else {
		sleep_s(1.25);
		pid_t pid = fork_or_fail();
		if (!pid) {
			map_s(fd, bytes, 0.02);
			_exit(0);
		}
		wait_for(pid);
	}
	(void)printf("{\"file_bytes\": %ld, \"own_bytes\": 65536}\n", bytes);
	return 0;
}
