/* scratch FILE MIB [keep] -- writes a file and, unless told to keep it, deletes it at once. */
#include "work.h"

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 2, 10) * MIB;
	static char block[BLOCK];
	bool keep = argc > 3;
	int fd = written(argv[1], block, bytes);

	if (!keep && unlink(argv[1]) < 0)
		fail("unlink");
	(void)close(fd);
	(void)printf("{\"written\": %ld, \"cancelled\": %ld}\n", bytes, keep ? 0 : bytes);
	return 0;
}
