/*
 * signals [SECONDS] -- prints "ready PID", waits so long for a signal, listens
 * for half a second more, prints how often it got each, and exits 0.
 */
#include "work.h"

static const struct {
	int number;
	const char *name;
} known[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},     {SIGQUIT, "QUIT"},
	     {SIGTERM, "TERM"}, {SIGUSR1, "USR1"},   {SIGUSR2, "USR2"},
	     {SIGALRM, "ALRM"}, {SIGWINCH, "WINCH"}, {SIGCONT, "CONT"}};

enum { NKNOWN = sizeof known / sizeof *known };

int main(int argc, char **argv)
{
	struct timespec wait = {.tv_sec = (time_t)number(argc, argv, 1, 20)};
	int got[NKNOWN] = {0}, sig;
	sigset_t set;

	(void)sigemptyset(&set);
	for (int i = 0; i < NKNOWN; i++)
		(void)sigaddset(&set, known[i].number);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)printf("ready %d\n", getpid());
	(void)fflush(stdout);
	while ((sig = sigtimedwait(&set, NULL, &wait)) > 0) {
		for (int i = 0; i < NKNOWN; i++)
			got[i] += known[i].number == sig;
		wait = (struct timespec){.tv_nsec = 500000000};
	}
	(void)printf("{");
	for (int i = 0; i < NKNOWN; i++)
		(void)printf("%s\"%s\": %d", i ? ", " : "", known[i].name, got[i]);
	(void)printf("}\n");
	return 0;
}
