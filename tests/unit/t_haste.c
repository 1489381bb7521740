/* haste -- a child's end interrupts a call, and is told of as ever afterwards. */
#include "utest.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/haste.h"

static sigset_t ends(void)
{
	sigset_t chld;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	return chld;
}

/* Is the end of a child still to be heard? It is no more, afterwards. */
static bool heard(void)
{
	const sigset_t chld = ends();

	return sigtimedwait(&chld, NULL, &(struct timespec){0}) == SIGCHLD;
}

/* A child that ends when its pipe is closed. */
static pid_t child(int *ret_pipe)
{
	int ends_of[2];

	EXPECT(pipe(ends_of) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		char none;

		(void)close(ends_of[1]);
		(void)!read(ends_of[0], &none, 1);
		_exit(0);
	}
	(void)close(ends_of[0]);
	*ret_pipe = ends_of[1];
	return pid;
}

static void wait_for(pid_t pid)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED) < 0 && errno == EINTR)
		;
}

static void t_interrupted(void)
{
	const sigset_t chld = ends();
	struct as_haste h;
	sigset_t old;
	int life = -1;

	(void)sigprocmask(SIG_BLOCK, &chld, &old);
	pid_t pid = child(&life);
	EXPECT(as_haste_begin(&h));
	(void)close(life);
	wait_for(pid);
	EXPECT(as_haste_end(&h));
	EXPECT(heard());
	EXPECT(!heard());
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

/* What ended before is told at once, and not lost either. */
static void t_over_already(void)
{
	const sigset_t chld = ends();
	struct as_haste h;
	sigset_t old;
	int life = -1;

	(void)sigprocmask(SIG_BLOCK, &chld, &old);
	pid_t pid = child(&life);
	(void)close(life);
	wait_for(pid);
	EXPECT(!as_haste_begin(&h));
	EXPECT(as_haste_end(&h));
	EXPECT(heard());
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

static void t_nobody_ends(void)
{
	const sigset_t chld = ends();
	struct as_haste h;
	sigset_t old, now;

	(void)sigprocmask(SIG_BLOCK, &chld, &old);
	EXPECT(as_haste_begin(&h));
	EXPECT(!as_haste_end(&h));
	EXPECT(!heard());
	(void)sigprocmask(SIG_SETMASK, &old, &now);
	EXPECT(sigismember(&now, SIGCHLD) == 1);
}

/* Where nobody reads signals from a descriptor they are left alone. */
static void t_not_blocked(void)
{
	struct as_haste h;

	EXPECT(as_haste_begin(&h));
	EXPECT(!as_haste_end(&h));
}

UTEST_MAIN(T(t_interrupted), T(t_over_already), T(t_nobody_ends), T(t_not_blocked))
