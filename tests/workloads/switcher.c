/*
 * switcher N [SECONDS] -- two processes throw a byte to and fro N times, and
 * count how often they had to wait for it: each wait is one voluntary context
 * switch. One of them then sleeps for so long.
 * Both are on one CPU and neither may push the other off it (SCHED_BATCH), so
 * that is nearly every time; on a busy machine somebody else may.
 */
#include <sched.h>
#include <sys/ioctl.h>

#include "work.h"

static void share_one_cpu(void)
{
	struct sched_param none = {0};
	cpu_set_t all, one;

	if (sched_setscheduler(0, SCHED_BATCH, &none) < 0 ||
	    sched_getaffinity(0, sizeof all, &all) < 0)
		fail("scheduler");
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &one);
			break;
		}
	if (sched_setaffinity(0, sizeof one, &one) < 0)
		fail("affinity");
}

/* Throw first, or catch first. */
static void play(int in, int out, int n, bool first, int *waits)
{
	char ball = 1;

	for (int i = 0; i < n; i++) {
		int there = 0;

		if (first && write(out, &ball, 1) != 1)
			fail("write");
		(void)ioctl(in, FIONREAD, &there);
		*waits += !there;
		if (read(in, &ball, 1) != 1)
			fail("read");
		if (!first && write(out, &ball, 1) != 1)
			fail("write");
	}
}

int main(int argc, char **argv)
{
	int n = (int)number(argc, argv, 1, 1000), to[2], fro[2];
	int *waits = (int *)(void *)touched(4096, MAP_SHARED); /* [0] ours, [1] the child's */

	waits[0] = waits[1] = 0;
	share_one_cpu();
	if (pipe(to) < 0 || pipe(fro) < 0)
		fail("pipe");
	pid_t pid = fork_or_fail();
	if (!pid) {
		play(to[0], fro[1], n, false, &waits[1]);
		_exit(0);
	}
	play(fro[0], to[1], n, true, &waits[0]);
	wait_for(pid);
	sleep_s(number(argc, argv, 2, 0));
	(void)printf("{\"voluntary\": %d}\n", waits[0] + waits[1]);
	return 0;
}
