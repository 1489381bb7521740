/* sleeper SECONDS -- does nothing. */
#include "work.h"

int main(int argc, char **argv)
{
	sleep_s(number(argc, argv, 1, 1));
	(void)printf("{\"cpu_seconds\": %.9f}\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
