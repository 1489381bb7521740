/* cachefill FILE MIB -- writes and reads a file: much page cache, next to no memory of its own. */
#include "work.h"

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 2, 10) * MIB;
	static char block[BLOCK];
	int fd = written(argv[1], block, bytes);

	read_all(fd, block, bytes);
	sleep_s(1.2);
	(void)printf("{\"file_bytes\": %ld, \"own_bytes\": %zu}\n", bytes, sizeof block);
	return 0;
}
