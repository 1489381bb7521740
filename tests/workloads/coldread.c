/* coldread FILE MIB -- writes a file, puts it out of the page cache, reads it: from the disk. */
#include "work.h"

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 2, 10) * MIB;
	static char block[BLOCK];
	int fd = written(argv[1], block, bytes);

	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("fadvise");
	read_all(fd, block, bytes);
	(void)printf("{\"file_bytes\": %20ld}\n", bytes);
	return 0;
}
