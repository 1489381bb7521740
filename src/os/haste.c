#include "os/haste.h"

#include <stddef.h>

/* A handler is told nothing but the signal. */
static volatile sig_atomic_t came;

static void note(int sig)
{
	(void)sig;
	came = 1;
}

bool as_haste_begin(struct as_haste *h)
{
	sigset_t chld;

	*h = (struct as_haste){0};
	(void)sigprocmask(SIG_BLOCK, NULL, &h->mask);
	h->possible = sigismember(&h->mask, SIGCHLD) == 1;
	if (!h->possible)
		return true;
	came = 0;
	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)sigaction(SIGCHLD, &(struct sigaction){.sa_handler = note, .sa_flags = SA_NOCLDSTOP},
			&h->chld);
	(void)sigprocmask(SIG_UNBLOCK, &chld, NULL);
	return !came;
}

bool as_haste_end(const struct as_haste *h)
{
	if (!h->possible)
		return false;
	(void)sigprocmask(SIG_SETMASK, &h->mask, NULL);
	(void)sigaction(SIGCHLD, &h->chld, NULL);
	if (came)
		(void)raise(SIGCHLD);
	return came;
}
