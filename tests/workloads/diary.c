/*
 * diary SECONDS -- one thread uses so much CPU and notes, at every millisecond
 * of it, what time it was: so how much it used between any two moments is
 * known, whoever else kept the machine busy.
 */
#include "work.h"

enum { PAGES_MAX = 20000 };

static struct {
	double clock, cpu;
} diary[PAGES_MAX];

static int note(int n)
{
	if (n == PAGES_MAX)
		return n;
	diary[n].clock = clock_s(CLOCK_BOOTTIME);
	diary[n].cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	return n + 1;
}

int main(int argc, char **argv)
{
	double seconds = number(argc, argv, 1, 1);
	volatile uint64_t x = 1;
	int n = note(0);

	while (diary[n - 1].cpu < seconds && n < PAGES_MAX) {
		double until = diary[n - 1].cpu + 0.001;

		while (clock_s(CLOCK_PROCESS_CPUTIME_ID) < until)
			for (int i = 0; i < 20000; i++)
				x = x * 6364136223846793005u + 1442695040888963407u;
		n = note(n);
	}
	(void)printf("{\"diary\": [");
	for (int i = 0; i < n; i++)
		(void)printf("%s[%.6f, %.6f]", i ? ", " : "", diary[i].clock, diary[i].cpu);
	(void)printf("], \"realtime\": %.3f, \"cpu_seconds\": %.9f}\n", clock_s(CLOCK_REALTIME),
		     clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
