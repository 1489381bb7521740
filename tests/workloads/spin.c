/*
 * spin -- loaded by a Python: a thread that Python does not know, and that uses
 * so many seconds of CPU. spin_begin() starts it, spin_end() waits for it and
 * says what it used.
 */
#include <pthread.h>

#include "work.h"

int spin_begin(double seconds);
double spin_end(void);

static double wanted, used;
static pthread_t thread;

static void *work(void *unused)
{
	burn_s(wanted);
	used = clock_s(CLOCK_THREAD_CPUTIME_ID);
	return unused;
}

int spin_begin(double seconds)
{
	wanted = seconds;
	return pthread_create(&thread, NULL, work, NULL);
}

double spin_end(void)
{
	(void)pthread_join(thread, NULL);
	return used;
}
