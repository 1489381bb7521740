/* mapped FILE MIB -- has a file in its address space and looks at every page of it for a while. */
#include "work.h"

static void fill(int fd, long bytes)
{
	static char block[65536];

	for (long done = 0; done < bytes; done += (long)sizeof block)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			fail("write");
}

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 2, 10) * MIB;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fail("open");
	fill(fd, bytes);
	volatile const char *p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		fail("mmap");
	for (long i = 0; i < bytes; i += 4096)
		(void)p[i];
	sleep_s(1.5);
	(void)printf("{\"file_bytes\": %ld, \"own_bytes\": 65536}\n", bytes);
	return 0;
}
