/* leak KIB_PER_SECOND SECONDS -- starts with 20 MiB and needs more all the time, at that rate. */
#include "work.h"

int main(int argc, char **argv)
{
	double rate = number(argc, argv, 1, 100) * 1024, seconds = number(argc, argv, 2, 10);
	long room = (long)(rate * seconds) + MIB, used = 0;
	double start = clock_s(CLOCK_MONOTONIC), now = 0;
	char *p = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		fail("mmap");
	(void)madvise(p, (size_t)room, MADV_NOHUGEPAGE);
	(void)touched(20 * MIB, MAP_PRIVATE);
	while (now < seconds) {
		for (; used < (long)(rate * now); used += 4096)
			p[used] = 1;
		sleep_s(0.02);
		now = clock_s(CLOCK_MONOTONIC) - start;
	}
	(void)printf("{\"bytes_per_hour\": %.0f}\n", rate * 3600);
	return 0;
}
