/*
 * stages KIND SECONDS [KIND SECONDS]... -- one thing after the other:
 *
 *	cpu      computes in one thread
 *	sleep    waits
 *	write    writes a file of 8 MiB again and again, 64 MiB a second
 *	grow     takes and touches 64 MiB of memory a second, and keeps it
 *	drop     gives all that memory back, and waits
 *
 * Says when each began.
 */
#include "work.h"

enum { PIECES_MAX = 4096 };

static char *pieces[PIECES_MAX];
static int taken;

static void take_piece(void)
{
	char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || taken == PIECES_MAX)
		return;
	memset(p, 1, MIB);
	pieces[taken++] = p;
}

static void drop_pieces(void)
{
	while (taken > 0)
		(void)munmap(pieces[--taken], MIB);
}

static void write_piece(void)
{
	static char data[MIB];
	static int fd = -1, at;

	if (fd < 0)
		fd = open("stages.out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	(void)!pwrite(fd, data, sizeof data, (off_t)(at++ % 8) * MIB);
}

/* `step` 64 times a second. */
static void paced(double seconds, void (*step)(void))
{
	double start = clock_s(CLOCK_MONOTONIC);

	for (int i = 0; i < (int)(seconds * 64); i++) {
		double due = start + i / 64.0 - clock_s(CLOCK_MONOTONIC);

		if (due > 0)
			sleep_s(due);
		step();
	}
}

static void stage(const char *kind, double seconds)
{
	if (!strcmp(kind, "cpu"))
		burn_s(seconds);
	else if (!strcmp(kind, "write"))
		paced(seconds, write_piece);
	else if (!strcmp(kind, "grow"))
		paced(seconds, take_piece);
	else if (!strcmp(kind, "drop"))
		drop_pieces(), sleep_s(seconds);
	else
		sleep_s(seconds);
}

int main(int argc, char **argv)
{
	double start = clock_s(CLOCK_MONOTONIC);

	(void)printf("{\"stages\": [");
	for (int i = 1; i + 1 < argc; i += 2) {
		(void)printf("%s{\"kind\": \"%s\", \"from\": %.9f}", i > 1 ? ", " : "", argv[i],
			     clock_s(CLOCK_MONOTONIC) - start);
		stage(argv[i], number(argc, argv, i + 1, 0));
	}
	(void)printf("], \"wall_seconds\": %.9f}\n", clock_s(CLOCK_MONOTONIC) - start);
	return 0;
}
