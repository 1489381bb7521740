/*
 * kin KIND SECONDS -- a process, its child and its grandchild write each its own number of
 * bytes, in calls of 1024, and sleep SECONDS in between. The line it prints says how many
 * bytes each wrote. KIND: waited (each waits for its child), orphan (the child does not wait
 * for the grandchild), ignored (nobody hears of ends), threads (a thread of the parent ends
 * before the child is started), both (it ends when the child does).
 */
#include "work.h"

#include <pthread.h>

enum { CALL = 1024, PARENT = 1500, CHILD = 2100, GRANDCHILD = 4300, THREAD = 3200 };

static void put(long calls)
{
	static const char block[CALL];
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		fail("open");
	for (long i = 0; i < calls; i++)
		if (write(fd, block, CALL) != CALL)
			fail("write");
	(void)close(fd);
}

static void grandchild(bool late, double s)
{
	sleep_s(late ? 2 * s : 0);
	put(GRANDCHILD);
	sleep_s(s);
	_exit(0);
}

static void child(const char *kind, double s)
{
	bool orphan = !strcmp(kind, "orphan");

	put(CHILD);
	pid_t pid = fork_or_fail();
	if (!pid)
		grandchild(orphan, s);
	sleep_s(s);
	if (!orphan && strcmp(kind, "ignored") != 0)
		wait_for(pid);
	_exit(0);
}

static void *thread(void *s)
{
	put(THREAD);
	sleep_s(*(const double *)s);
	return NULL;
}

static void end(pthread_t t)
{
	if (pthread_join(t, NULL) != 0)
		fail("pthread_join");
}

/* All of its kin hold the end that is written to, and nobody writes. */
static void until_alone(const int ends[2])
{
	char none;

	(void)close(ends[1]);
	if (read(ends[0], &none, 1) != 0)
		fail("read");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "waited";
	double s = number(argc, argv, 2, 0);
	bool before = !strcmp(kind, "threads"), both = !strcmp(kind, "both");
	bool ignored = !strcmp(kind, "ignored");
	char line[160];
	int ends[2];
	pthread_t t;

	if (pipe(ends) < 0)
		fail("pipe");
	if (ignored)
		(void)signal(SIGCHLD, SIG_IGN);
	put(PARENT);
	if ((before || both) && pthread_create(&t, NULL, thread, &s) != 0)
		fail("pthread_create");
	if (before)
		end(t);
	sleep_s(s);
	pid_t pid = fork_or_fail();
	if (!pid)
		child(kind, s);
	if (!ignored)
		wait_for(pid);
	until_alone(ends);
	if (both)
		end(t);
	sleep_s(s + 0.05); /* their ends are told a moment later */
	long own = CALL * (PARENT + (before || both ? (long)THREAD : 0));
	for (long n = 0, i = 0; i < 2; i++)
		n = snprintf(line, sizeof line,
			     "{\"parent\": %9ld, \"child\": %9ld, \"grandchild\": %9ld}\n", own + n,
			     (long)CALL * CHILD, (long)CALL * GRANDCHILD);
	(void)fputs(line, stdout);
	return 0;
}
