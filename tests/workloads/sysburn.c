/* sysburn SECONDS -- uses that much CPU, nearly all of it in the kernel (zeroing pages). */
#include "work.h"

int main(int argc, char **argv)
{
	double seconds = number(argc, argv, 1, 1);
	char *page = touched(MIB, MAP_PRIVATE);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (zero < 0)
		fail("/dev/zero");
	while (clock_s(CLOCK_PROCESS_CPUTIME_ID) < seconds)
		if (read(zero, page, MIB) != MIB)
			fail("read");
	(void)printf("{\"cpu_seconds\": %.9f}\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
