/*
 * task_sample PROCESSES WAKES [PASSES] -- what one pass of the task iterator costs.
 *
 * Starts so many processes, asleep or waking so often a second, and lets the
 * iterator tell of them. A line for each round: the CPU nanoseconds of telling
 * everything of everybody, of the same at once again, while all is in the
 * caches, and of telling those who ran, a tenth of a second later. Who hears it
 * only counts: nobody keeps what was read. Exit 77: this user cannot load
 * programs here.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/life_bpf.h"
#include "os/taskiter.h"

enum { CANNOT = 77, PAUSE_NS = 100000000 };

static void hear(void *data, const struct as_wire_thread *t, const struct as_wire_group *g)
{
	long *heard = data;

	(void)t;
	*heard += g != NULL;
}

static int complain(const char *what, const struct as_err *err, int status)
{
	(void)fprintf(stderr, "task_sample: %s: %s\n", what, err->msg);
	return status;
}

/* Computes for some microseconds, now and then; 0: never. Ends with its parent. */
__attribute__((noreturn)) static void live(long wakes)
{
	volatile unsigned x = 1;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct timespec t = as_timespec(wakes ? AS_SECOND / wakes : 3600 * AS_SECOND);

		(void)nanosleep(&t, NULL);
		for (int i = 0; i < 5000; i++)
			x = x * 1664525 + 1013904223;
	}
}

/* CPU time of one pass; its last one told of `*heard` processes. */
static int64_t pass(struct as_life_source *source, bool all, long *heard, struct as_err *err)
{
	uint64_t quiet = 0;
	int64_t from = as_clock(CLOCK_PROCESS_CPUTIME_ID);

	*heard = 0;
	if (as_taskiter_pass(source, all, hear, heard, &quiet, err) < 0)
		return -1;
	*heard += (long)quiet;
	return as_clock(CLOCK_PROCESS_CPUTIME_ID) - from;
}

static int measure(struct as_life_source *source, long processes, long passes)
{
	const struct timespec pause = as_timespec(PAUSE_NS);
	struct as_err err = {0};

	for (long i = 0; i <= passes; i++) {
		long all = 0, some = 0;
		int64_t whole = pass(source, true, &all, &err);
		int64_t warm = pass(source, true, &all, &err);

		(void)nanosleep(&pause, NULL);
		int64_t changed = pass(source, false, &some, &err);
		(void)nanosleep(&pause, NULL);
		if (whole < 0 || warm < 0 || changed < 0)
			return complain("pass", &err, 1);
		if (all < processes || some < processes) {
			(void)fprintf(stderr, "task_sample: %ld and %ld processes told\n", all,
				      some);
			return 1;
		}
		if (i) /* the first one makes room */
			(void)printf("%lld %lld %lld\n", (long long)whole, (long long)warm,
				     (long long)changed);
	}
	return 0;
}

static int watch(const struct as_env *env, long processes, long wakes, long passes)
{
	struct as_life_source *source = NULL;
	struct as_err err = {0};
	int r = CANNOT;

	if (as_life_bpf.open(&source, env, &err) < 0)
		return complain("open", &err, CANNOT);
	if (as_life_bpf.parent(source, getpid(), &err) < 0)
		r = complain("open", &err, CANNOT);
	else {
		for (long i = 0; i < processes; i++)
			if (fork() == 0)
				live(wakes);
		r = measure(source, processes, passes);
	}
	as_life_bpf.close(source);
	return r;
}

int main(int argc, char **argv)
{
	long processes = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	long wakes = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long passes = argc > 3 ? strtol(argv[3], NULL, 10) : 20;
	struct as_err err = {0};
	struct as_env env;

	if (as_env_open(&env, &err) < 0)
		return complain("start", &err, 1);
	int r = watch(&env, processes, wakes, passes);
	as_env_close(&env);
	return r;
}
