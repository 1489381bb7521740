/* phases IDLE BUSY [IDLE BUSY]... -- sleeps, then computes, for so many seconds each, by turns. */
#include "work.h"

int main(int argc, char **argv)
{
	double start = clock_s(CLOCK_MONOTONIC);

	for (int i = 1; i < argc; i++)
		if (i % 2)
			sleep_s(number(argc, argv, i, 0));
		else
			burn_s(number(argc, argv, i, 0));
	(void)printf("{\"cpu_seconds\": %.9f, \"wall_seconds\": %.9f}\n",
		     clock_s(CLOCK_PROCESS_CPUTIME_ID), clock_s(CLOCK_MONOTONIC) - start);
	return 0;
}
