/*
 * leap [THREADS] -- threads that are thrown out of malloc() and its relatives by
 * siglongjmp(), over and over, from stacks that are new each time; in between
 * handlers jump within themselves. Afterwards each allocates what is known, in
 * calm(). The allocator (bump.c) is one that does not mind.
 */
#include "work.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

enum { LEAPS = 300, CALM = 101, SIZE = 10007, MOST = 8 };

static _Thread_local sigjmp_buf home;
static _Thread_local volatile sig_atomic_t away, leaps;
static _Thread_local unsigned luck;
static _Atomic int left;

/* Within a handler a jump is its own business: what it interrupted goes on. */
static void jump_inside(void)
{
	sigjmp_buf here;

	if (!sigsetjmp(here, 0))
		siglongjmp(here, 1);
}

static void on_signal(int sig)
{
	(void)sig;
	jump_inside();
	if (!away)
		return;
	leaps = leaps + 1;
	if (leaps % 3)
		siglongjmp(home, 1);
}

static void deeper(unsigned depth);

static __attribute__((noinline)) void to_the_left(unsigned depth)
{
	deeper(depth);
	__asm__ volatile("");
}

static __attribute__((noinline)) void to_the_right(unsigned depth)
{
	deeper(depth);
	__asm__ volatile("");
}

static __attribute__((noinline)) void deeper(unsigned depth)
{
	luck = luck * 1103515245u + 12345u;
	if (depth)
		luck >> 16 & 1 ? to_the_left(depth - 1) : to_the_right(depth - 1);
	free(realloc(malloc(luck >> 8 & 255), luck >> 16 & 1023));
	__asm__ volatile("");
}

static __attribute__((noinline)) void calm(void)
{
	for (int i = 0; i < CALM; i++) {
		void *volatile kept = malloc(SIZE);

		(void)kept;
	}
}

static void *storm(void *arg)
{
	luck = (unsigned)(uintptr_t)arg;
	while (leaps < LEAPS) {
		if (!sigsetjmp(home, 1)) {
			away = 1;
			for (int i = 0; leaps < LEAPS && i < 100000; i++)
				deeper(12);
		}
		away = 0;
	}
	calm();
	(void)atomic_fetch_sub(&left, 1);
	while (left > 0)
		(void)sched_yield();
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t thread[MOST];

	if (n < 1 || n > MOST || signal(SIGUSR1, on_signal) == SIG_ERR)
		return 2;
	left = (int)n;
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, storm, (void *)(uintptr_t)(i + 1)))
			fail("pthread_create");
	while (left > 0)
		for (unsigned i = 0; i < n; i++) {
			(void)pthread_kill(thread[i], SIGUSR1);
			(void)usleep(100);
		}
	for (unsigned i = 0; i < n; i++)
		(void)pthread_join(thread[i], NULL);
	printf("{\"bytes\": %d, \"count\": %d}\n", (int)n * CALM * SIZE, (int)n * CALM);
	return 0;
}
