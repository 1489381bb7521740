/* coldread FILE MIB -- writes a file, puts it out of the page cache, reads it: from the disk. */
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
	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("fadvise");
	for (long i = 0; i < mib * 16; i++)
		if (pread(fd, block, sizeof block, i * (long)sizeof block) != (ssize_t)sizeof block)
			fail("read");
	(void)printf("{\"file_bytes\": %20ld}\n", mib * MIB);
	return 0;
}
