/*
 * host CASE [ARG] -- what processes do to a guest in them: the cases are in the
 * table at the end. What they allocate they count, and tell as allocs.h does.
 */
#include "allocs.h"

#include <pthread.h>

static void *made(size_t n)
{
	return MADE(malloc(n), n);
}

static void give(void *p)
{
	GONE(p);
	free(p);
}

static void churn(int n)
{
	for (int i = 0; i < n; i++)
		give(made((size_t)i % 97 + 1));
}

/* Every descriptor is closed, those of strangers too. */
static void c_closes(const char *arg)
{
	(void)arg;
	churn(11);
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
	churn(20011);
}

static void c_kill(const char *arg)
{
	(void)arg;
	churn(5003);
	(void)made(7001);
	alloc_tell();
	(void)kill(getpid(), SIGKILL);
}

/* --- signals --------------------------------------------------------------------- */

static volatile sig_atomic_t rang;

/* mmap() is a call of the kernel's: a handler may do that wherever it interrupts. */
static void on_alarm(int sig)
{
	int kept = errno;
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)sig;
	if (p == MAP_FAILED || munmap(p, 4096))
		_exit(3);
	rang = rang + 1;
	errno = kept;
}

static void *ring_them(void *arg)
{
	while (rang < 101) {
		(void)pthread_kill(*(pthread_t *)arg, SIGUSR1);
		(void)sched_yield();
	}
	return NULL;
}

static void c_signals(const char *arg)
{
	pthread_t self = pthread_self(), other;

	(void)arg;
	(void)signal(SIGUSR1, on_alarm);
	if (pthread_create(&other, NULL, ring_them, &self))
		fail("pthread_create");
	while (rang < 101)
		churn(101);
	(void)pthread_join(other, NULL);
	errno = 0;
	churn(100);
	if (errno)
		fail("errno was changed");
}

/* --- threads ---------------------------------------------------------------------- */

enum { SHELF = 61, LANES = 4 };

static _Atomic(void *) shelf[SHELF];

/* Whatever one puts there another takes, makes larger and gives back. */
static void *trade(void *arg)
{
	unsigned at = (unsigned)(uintptr_t)arg * 7 + 1;

	for (int i = 0; i < 20011; i++) {
		at = at * 1664525 + 1013904223;
		void *p = atomic_exchange(&shelf[at / 65536 % SHELF], NULL);

		p = realloc(p, at / 256 % 400 + 1);
		free(atomic_exchange(&shelf[at / 8192 % SHELF], p));
	}
	return NULL;
}

static void c_trade(const char *arg)
{
	pthread_t lane[LANES];

	(void)arg;
	for (uintptr_t i = 0; i < LANES; i++)
		if (pthread_create(&lane[i], NULL, trade, (void *)i))
			fail("pthread_create");
	for (int i = 0; i < LANES; i++)
		(void)pthread_join(lane[i], NULL);
}

static pthread_key_t late_key;

/* A destructor that frees what its thread made, as late as it can be. */
static void free_late(void *arg)
{
	static _Thread_local int round;

	if (++round < 4)
		(void)pthread_setspecific(late_key, arg);
	else
		give(arg);
}

static void *be_late(void *arg)
{
	(void)arg;
	(void)pthread_setspecific(late_key, made(31));
	return NULL;
}

static void c_late(const char *arg)
{
	(void)arg;
	if (pthread_key_create(&late_key, free_late))
		fail("pthread_key_create");
	for (int i = 0; i < 200; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, be_late, NULL))
			fail("pthread_create");
		(void)pthread_join(t, NULL);
	}
}

static pthread_barrier_t all_there;

static void *stand_by(void *arg)
{
	void *p[3];

	(void)arg;
	for (int i = 0; i < 3; i++)
		p[i] = made(29);
	(void)pthread_barrier_wait(&all_there);
	for (int i = 0; i < 3; i++)
		give(p[i]);
	return NULL;
}

/* More at a time than there are rings. */
static void c_many(const char *arg)
{
	enum { MANY = 1103 };
	static pthread_t thread[MANY];
	pthread_attr_t small;

	(void)arg;
	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, 32 << 10);
	(void)pthread_barrier_init(&all_there, NULL, MANY);
	for (int i = 0; i < MANY; i++)
		if (pthread_create(&thread[i], &small, stand_by, NULL))
			fail("pthread_create");
	for (int i = 0; i < MANY; i++)
		(void)pthread_join(thread[i], NULL);
}

/* --- processes --------------------------------------------------------------------- */

static _Atomic bool enough;

static void *keep_busy(void *arg)
{
	for (unsigned i = 1; !enough; i++) {
		free(malloc((size_t)(uintptr_t)arg));
		if (i % 64 == 0)
			(void)usleep(1000);
	}
	return NULL;
}

static void child(void)
{
	alloc_forget();
	churn(13);
	(void)made(4001);
	alloc_tell();
	exit(0);
}

/* Children of a process whose other threads are in the allocator, and in us. */
static void c_forks(const char *arg)
{
	pthread_t t;

	(void)arg;
	if (pthread_create(&t, NULL, keep_busy, (void *)77))
		fail("pthread_create");
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork_or_fail();

		if (!pid)
			child();
		wait_for(pid);
	}
	enough = true;
	(void)pthread_join(t, NULL);
}

static void c_exec(const char *arg)
{
	int left = atoi(arg);
	char next[16];

	(void)made((size_t)left + 1);
	alloc_tell();
	if (!left)
		exit(0);
	(void)snprintf(next, sizeof(next), "%d", left - 1);
	(void)execl("/proc/self/exe", "host", "exec", next, NULL);
	fail("exec");
}

static void c_churn(const char *arg)
{
	churn(atoi(arg));
}

static const struct {
	const char *name;
	void (*act)(const char *arg);
} cases[] = {
	{"closes", c_closes}, {"kill", c_kill}, {"signals", c_signals},
	{"trade", c_trade},   {"late", c_late}, {"many", c_many},
	{"forks", c_forks},   {"exec", c_exec}, {"churn", c_churn},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(cases[i].name, argv[1]))
			cases[i].act(argc > 2 ? argv[2] : "");
	alloc_tell();
	return 0;
}
