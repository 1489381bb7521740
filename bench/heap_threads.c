/*
 * heap_threads ROUNDS [FILE] -- four threads that allocate and give back, half
 * of it what another one allocated. The CPU time of it, in ns, goes to FILE.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4, SHELF = 1024 };
enum { IDLE_NS = 300000000 }; /* of a program that does nothing: as long as those that work */

static _Atomic(void *) shelf[SHELF];

static void *work(void *arg)
{
	uint32_t x = 2463534242u;

	for (uint64_t i = 0, n = (uint64_t)(uintptr_t)arg; i < n; i++) {
		x ^= x << 13, x ^= x >> 17, x ^= x << 5;
		void *p = malloc(16 + x % 1500);

		if (i % 2)
			p = atomic_exchange(&shelf[x % SHELF], p);
		free(p);
	}
	return NULL;
}

static uint64_t cpu_ns(void)
{
	struct timespec t = {};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uintptr_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t start = cpu_ns();
	pthread_t t[THREADS];
	FILE *out = argc > 2 ? fopen(argv[2], "w") : NULL;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)rounds))
			return 1;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(t[i], NULL);
	if (!rounds)
		(void)nanosleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
	if (out) {
		(void)fprintf(out, "%lu", cpu_ns() - start);
		(void)fclose(out);
	}
	return 0;
}
