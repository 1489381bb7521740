/*
 * jump -- preloaded: CLOCK_REALTIME jumps back an hour, JUMP_AFTER seconds
 * after the program's start, as a wrong clock does when it is set right; and
 * CLOCK_BOOTTIME ahead by 100 seconds, SLEEP_AFTER seconds after the start, as
 * when the machine is suspended.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int clock_fn(clockid_t id, struct timespec *t);

static double start, after = -1, asleep = -1;
static clock_fn *real;

static double seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec / 1e9;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("JUMP_AFTER"), *sleep = getenv("SLEEP_AFTER");
	struct timespec t;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	(void)real(CLOCK_MONOTONIC, &t);
	start = seconds(&t);
	after = text ? strtod(text, NULL) : -1;
	asleep = sleep ? strtod(sleep, NULL) : -1;
}

static int is_past(double moment)
{
	struct timespec now;

	(void)real(CLOCK_MONOTONIC, &now);
	return moment >= 0 && seconds(&now) - start > moment;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!real)
		begin();
	int r = real(id, t);
	if (r == 0 && id == CLOCK_REALTIME && is_past(after))
		t->tv_sec -= 3600;
	if (r == 0 && id == CLOCK_BOOTTIME && is_past(asleep))
		t->tv_sec += 100;
	return r;
}
