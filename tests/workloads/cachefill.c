/* cachefill FILE MIB -- writes and reads a file: much page cache, next to no memory of its own. */
#include "work.h"

int main(int argc, char **argv)
{
	long mib = (long)number(argc, argv, 2, 10);
	static char block[65536];
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fail("open");
	for (long i = 0; i < mib * 16; i++)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			fail("write");
	for (long i = 0; i < mib * 16; i++)
		if (pread(fd, block, sizeof block, i * (long)sizeof block) != (ssize_t)sizeof block)
			fail("read");
	sleep_s(1.2);
	(void)printf("{\"file_bytes\": %ld, \"own_bytes\": %zu}\n", mib * MIB, sizeof block);
	return 0;
}
