/*
 * meter ROUNDS [SEED] < COMMANDS -- run commands in turns and tell what each cost.
 *
 * A command a line, its words separated by tabs; its output goes nowhere. In
 * every round each of them is run once, in an order shuffled by SEED, so that
 * a slow minute of the machine hurts all alike. One line for every run:
 *
 *	round command status wall_ns own_ns tree_ns peak_kb
 *
 * own is the CPU time of the process itself with all its threads, read from
 * its clock while it is a zombie: what it ran and waited for is not in it.
 * tree has that too. peak is the largest resident size of it or of a process
 * that it waited for. A small program does this and not the Python around it,
 * because a big parent is slow to fork, and its size is inherited as a peak.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 32, WORDS_MAX = 64 };

struct command {
	char *line;
	char *argv[WORDS_MAX + 1];
};

struct cost {
	int status;
	int64_t wall_ns, own_ns, tree_ns, peak_kb;
};

__attribute__((noreturn)) static void fail(const char *what)
{
	(void)fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) < 0)
		fail("clock_gettime");
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t timeval_ns(const struct timeval *t)
{
	return ((int64_t)t->tv_sec * 1000000 + t->tv_usec) * 1000;
}

static void split(struct command *c)
{
	size_t n = 0;

	c->line[strcspn(c->line, "\n")] = '\0';
	for (char *at = c->line; at && n < WORDS_MAX; n++)
		c->argv[n] = strsep(&at, "\t");
}

static size_t read_commands(struct command *c)
{
	size_t n = 0, size = 0;

	while (n < COMMANDS_MAX && getline(&c[n].line, &size, stdin) > 1) {
		split(&c[n++]);
		size = 0;
	}
	return n;
}

static pid_t start(char **argv, int nowhere)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid > 0)
		return pid;
	for (int fd = 0; fd <= 2; fd++)
		(void)dup2(nowhere, fd);
	(void)execvp(argv[0], argv);
	_exit(127);
}

static struct cost run(char **argv, int nowhere)
{
	struct cost k = {0};
	siginfo_t info;
	struct rusage u;
	clockid_t clock;

	int64_t from = clock_ns(CLOCK_MONOTONIC);
	pid_t pid = start(argv, nowhere);
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		fail("waitid");
	k.wall_ns = clock_ns(CLOCK_MONOTONIC) - from;
	if (clock_getcpuclockid(pid, &clock))
		fail("clock_getcpuclockid");
	k.own_ns = clock_ns(clock);
	if (wait4(pid, &k.status, 0, &u) < 0)
		fail("wait4");
	k.tree_ns = timeval_ns(&u.ru_utime) + timeval_ns(&u.ru_stime);
	k.peak_kb = u.ru_maxrss;
	return k;
}

static void shuffle(size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random() % i, t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

int main(int argc, char **argv)
{
	static struct command commands[COMMANDS_MAX];
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
	size_t n = read_commands(commands), order[COMMANDS_MAX];
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	srandom(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (int round = 0; round < rounds; round++) {
		shuffle(order, n);
		for (size_t i = 0; i < n; i++) {
			struct cost k = run(commands[order[i]].argv, nowhere);

			(void)printf("%d %zu %d %lld %lld %lld %lld\n", round, order[i], k.status,
				     (long long)k.wall_ns, (long long)k.own_ns,
				     (long long)k.tree_ns, (long long)k.peak_kb);
			(void)fflush(stdout);
		}
	}
	return 0;
}
