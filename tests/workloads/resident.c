/*
 * resident CASE [FILE] -- for half a second holds memory whose share of RSS is known:
 *
 *	touched     one block, all of it written
 *	untouched   one block that nobody ever looks at
 *	fragments   small blocks, three of four given back: their pages stay
 *	file        FILE in the address space, each page looked at
 */
#include "work.h"

enum { SMALL = 1000, EACH = 4 };

static char *volatile held; /* for the compiler: somebody may look */

static long whole_block(const char *file)
{
	(void)file;
	held = malloc(64 * MIB);
	memset(held, 1, 64 * MIB);
	return 64 * MIB;
}

static long untouched(const char *file)
{
	(void)file;
	held = malloc(64 * MIB);
	return 64 * MIB;
}

static long fragments(const char *file)
{
	const long n = 64 * MIB / SMALL;
	char **block = malloc((size_t)n * sizeof *block);

	(void)file;
	for (long i = 0; i < n; i++)
		block[i] = memset(malloc(SMALL), 1, SMALL);
	for (long i = 0; i < n; i++)
		if (i % EACH)
			free(block[i]);
	held = (char *)block;
	return (n + EACH - 1) / EACH * SMALL + n * (long)sizeof *block;
}

static long mapped(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	if (n <= 0)
		fail(file);
	held = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);
	if (held == MAP_FAILED)
		fail("mmap");
	for (off_t i = 0; i < n; i += 4096)
		(void)((volatile const char *)held)[i];
	return n;
}

static const struct {
	const char *name;
	long (*hold)(const char *file);
} cases[] = {
	{"touched", whole_block},
	{"untouched", untouched},
	{"fragments", fragments},
	{"file", mapped},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			long bytes = cases[i].hold(argc > 2 ? argv[2] : "");

			sleep_s(0.5);
			(void)printf("{\"held\": %ld}\n", bytes);
			return 0;
		}
	return 2;
}
