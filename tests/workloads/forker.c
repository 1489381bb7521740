/*
 * forker N MILLISECONDS [KIND] -- N children, one after the other, each of
 * which uses so much CPU and then tells how much it was by its own clock.
 *
 *	fork      waited for by their parent (the default)
 *	double    orphans: the parent is gone before they begin
 *	setsid    in sessions of their own
 *	ignore    nobody waits for them: SIGCHLD is ignored
 *	vfork     vfork() and exec
 *	thread    threads, not processes
 *	leader    as fork, but the first thread of each ends at once; a second, "worker", works
 *	sibling   clone(CLONE_PARENT): children of our own parent
 *	exec      as fork, but a second thread of each calls exec and works
 *	late      as exec, but that thread works as much before it calls exec, too
 *	heavy     as fork, but each has 64 MiB of its parent's to give back when it ends
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "work.h"

static double seconds;

/* In the child: work, and say by the pipe what it took. */
__attribute__((noreturn)) static void child(int tell)
{
	burn_s(seconds);
	double cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	if (write(tell, &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
		fail("write");
	_exit(0);
}

static void start_fork(int tell)
{
	if (!fork_or_fail())
		child(tell);
}

static void start_double(int tell)
{
	pid_t middle = fork_or_fail();

	if (!middle) {
		if (!fork_or_fail())
			child(tell);
		_exit(0);
	}
	wait_for(middle);
}

static void start_setsid(int tell)
{
	if (!fork_or_fail()) {
		(void)setsid();
		child(tell);
	}
}

/* Become a program of its own that is a child: only calls that are safe after vfork(). */
__attribute__((noreturn)) static void become_child(char *ms, char *fd)
{
	char *argv[] = {(char[]){"forker"}, (char[]){"child"}, ms, fd, NULL};

	(void)execv("/proc/self/exe", argv);
	_exit(98);
}

static void start_vfork(int tell)
{
	char fd[16], ms[32];

	(void)snprintf(fd, sizeof fd, "%d", tell);
	(void)snprintf(ms, sizeof ms, "%.3f", seconds * 1000);
	pid_t pid = vfork();
	if (pid < 0)
		fail("vfork");
	if (!pid)
		become_child(ms, fd);
}

static void *second_execs(void *at)
{
	char fd[16], ms[32];

	(void)snprintf(fd, sizeof fd, "%d", (int)(intptr_t)at);
	(void)snprintf(ms, sizeof ms, "%.3f", seconds * 1000);
	become_child(ms, fd);
}

static void *second_execs_late(void *at)
{
	burn_s(seconds);
	return second_execs(at);
}

/* A child with a second thread that does so. */
static void start_second(void *(*run)(void *), int tell)
{
	pthread_t id;

	if (fork_or_fail())
		return;
	if (pthread_create(&id, NULL, run, (void *)(intptr_t)tell))
		fail("pthread_create");
	for (;;)
		(void)pause();
}

static void start_exec(int tell)
{
	start_second(second_execs, tell);
}

static void start_late(int tell)
{
	start_second(second_execs_late, tell);
}

static void *thread(void *at)
{
	int tell = (int)(intptr_t)at;

	burn_s(seconds);
	double cpu = clock_s(CLOCK_THREAD_CPUTIME_ID);
	if (write(tell, &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
		fail("write");
	return NULL;
}

static void start_thread(int tell)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, (void *)(intptr_t)tell))
		fail("pthread_create");
	(void)pthread_join(id, NULL);
}

static void *second(void *at)
{
	(void)pthread_setname_np(pthread_self(), "worker");
	child((int)(intptr_t)at);
}

static void start_leader(int tell)
{
	pthread_t id;

	if (fork_or_fail())
		return;
	if (pthread_create(&id, NULL, second, (void *)(intptr_t)tell))
		fail("pthread_create");
	pthread_exit(NULL);
}

static void start_sibling(int tell)
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (pid < 0)
		fail("clone");
	if (!pid)
		child(tell);
}

static const struct {
	const char *name;
	void (*start)(int tell);
	bool reap, process;
} kinds[] = {
	{"fork", start_fork, true, true},     {"double", start_double, false, true},
	{"setsid", start_setsid, true, true}, {"ignore", start_fork, false, true},
	{"vfork", start_vfork, true, true},   {"thread", start_thread, false, false},
	{"leader", start_leader, true, true}, {"sibling", start_sibling, false, true},
	{"exec", start_exec, true, true},     {"late", start_late, true, true},
	{"heavy", start_fork, true, true},
};

enum { NKINDS = sizeof kinds / sizeof *kinds };

/* Memory that every child shares: the kernel goes through all of it at each end. */
static void grow_heavy(void)
{
	enum { BYTES = 64 << 20 };

	if (mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		 -1, 0) == MAP_FAILED)
		fail("mmap");
}

/* One child from its start to its end; what it used. */
static double one(int k)
{
	double cpu = 0;
	int ends[2];

	if (pipe(ends) < 0)
		fail("pipe");
	kinds[k].start(ends[1]);
	(void)close(ends[1]);
	if (read(ends[0], &cpu, sizeof cpu) != (ssize_t)sizeof cpu)
		fail("a child said nothing");
	if (kinds[k].process) /* its end closes the pipe */
		(void)!read(ends[0], &(char){0}, 1);
	(void)close(ends[0]);
	if (kinds[k].reap)
		(void)wait(NULL);
	return cpu;
}

int main(int argc, char **argv)
{
	const char *name = argc > 3 ? argv[3] : "fork";
	int n = (int)number(argc, argv, 1, 1), k = 0;
	double children = 0;

	seconds = number(argc, argv, 2, 10) / 1000;
	if (argc > 1 && !strcmp(argv[1], "child"))
		child((int)number(argc, argv, 3, 1));
	while (k < NKINDS && strcmp(kinds[k].name, name))
		k++;
	if (k == NKINDS)
		return 99;
	if (!strcmp(name, "ignore"))
		(void)signal(SIGCHLD, SIG_IGN);
	if (!strcmp(name, "heavy"))
		grow_heavy();
	for (int i = 0; i < n; i++)
		children += one(k);
	double own = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	(void)printf("{\"children\": %d, \"children_cpu_seconds\": %.9f, \"cpu_seconds\": %.9f}\n",
		     n, children, kinds[k].process ? own + children : own);
	return 0;
}
