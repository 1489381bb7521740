/*
 * crowd PROCESSES SECONDS [WAKES] -- a job of many small processes.
 *
 * Each sleeps until the end, or wakes WAKES times a second to compute for some
 * microseconds. They are the children of the first process, and die with it.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct timespec timespec_of(double s)
{
	return (struct timespec){(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
}

static void sleep_s(double s)
{
	struct timespec t = timespec_of(s);

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void compute(void)
{
	volatile uint64_t x = 1;

	for (int i = 0; i < 5000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
}

/* Out of step with the others: a real job does not wake all at once. */
__attribute__((noreturn)) static void live(double share, double wakes)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (wakes > 0)
		sleep_s(share / wakes);
	for (;;) {
		if (wakes <= 0) {
			(void)pause();
		} else {
			compute();
			sleep_s(1 / wakes);
		}
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	double wakes = argc > 3 ? strtod(argv[3], NULL) : 0;

	pid_t *pids = calloc((size_t)n, sizeof *pids);

	for (long i = 0; pids && i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			live((double)i / (double)n, wakes);
		if (pids[i] < 0) {
			perror("crowd: fork");
			return 1;
		}
	}
	sleep_s(seconds);
	for (long i = 0; pids && i < n; i++)
		(void)kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	free(pids);
	return 0;
}
