/*
 * crowd N SECONDS -- N children that do nothing for so long, all at once. Says
 * "ready" in a line of its own when they are all there.
 */
#include "work.h"

int main(int argc, char **argv)
{
	long n = (long)number(argc, argv, 1, 10);
	double seconds = number(argc, argv, 2, 1);
	pid_t *child = calloc((size_t)n, sizeof *child);

	if (!child)
		fail("calloc");
	for (long i = 0; i < n; i++) {
		child[i] = fork();
		if (child[i] < 0) {
			n = i;
			break;
		}
		if (!child[i]) {
			(void)alarm(600); /* whatever becomes of our parent */
			(void)pause();
			_exit(0);
		}
	}
	(void)printf("ready\n");
	(void)fflush(stdout);
	sleep_s(seconds);
	for (long i = 0; i < n; i++)
		(void)kill(child[i], SIGKILL);
	for (long i = 0; i < n; i++)
		(void)waitpid(child[i], NULL, 0);
	(void)printf("{\"processes\": %ld}\n", n + 1);
	return 0;
}
