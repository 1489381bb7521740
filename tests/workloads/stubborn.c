/*
 * stubborn SECONDS [child] -- ignores TERM, INT and HUP for so long, and
 * prints "ready PID" first; with `child` it is a child that does, and the
 * parent dies of the first signal.
 */
#include "work.h"

int main(int argc, char **argv)
{
	double seconds = number(argc, argv, 1, 20);
	pid_t pid = argc > 2 ? fork_or_fail() : 0;

	if (!pid) {
		(void)signal(SIGTERM, SIG_IGN);
		(void)signal(SIGINT, SIG_IGN);
		(void)signal(SIGHUP, SIG_IGN);
		(void)printf("ready %d\n", getpid());
		(void)fflush(stdout);
	}
	sleep_s(seconds);
	return 0;
}
