/* burn SECONDS [THREADS] -- each thread (burn, burn-1, …) uses so much CPU in user code. */
#include <pthread.h>

#include "work.h"

enum { THREADS_MAX = 64 };

static double seconds, used[THREADS_MAX];

static void *work(void *at)
{
	double *cpu = at;
	char name[16];

	(void)snprintf(name, sizeof name, "burn-%d", (int)(cpu - used));
	if (cpu != used) /* the name of the first thread is that of the process */
		(void)pthread_setname_np(pthread_self(), name);
	burn_s(seconds);
	*cpu = clock_s(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = (int)number(argc, argv, 2, 1);
	pthread_t id[THREADS_MAX];

	if (threads < 1 || threads > THREADS_MAX)
		return 99;
	seconds = number(argc, argv, 1, 1);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&id[i], NULL, work, &used[i]))
			fail("pthread_create");
	(void)work(&used[0]);
	for (int i = 1; i < threads; i++)
		(void)pthread_join(id[i], NULL);
	(void)printf("{\"threads\": [");
	for (int i = 0; i < threads; i++)
		(void)printf("%s%.9f", i ? ", " : "", used[i]);
	(void)printf("], \"cpu_seconds\": %.9f}\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
