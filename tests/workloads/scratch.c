/* scratch FILE MIB [keep] -- writes a file and, unless told to keep it, deletes it at once. */
#include "work.h"

int main(int argc, char **argv)
{
	long mib = (long)number(argc, argv, 2, 10);
	static char block[65536];
	bool keep = argc > 3;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fail("open");
	for (long i = 0; i < mib * 16; i++)
		if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
			fail("write");
	if (!keep && unlink(argv[1]) < 0)
		fail("unlink");
	(void)close(fd);
	(void)printf("{\"written\": %ld, \"cancelled\": %ld}\n", mib * MIB, keep ? 0 : mib * MIB);
	return 0;
}
