/*
 * cgroup_sample [SAMPLES] [BATCH] -- what one look at a control group costs.
 *
 * Opens the cgroup collector on a group of its own with one process in it, all
 * fields wanted, and samples it. A line for each batch: the CPU nanoseconds of
 * one sample. The frame is cleared for each, as the engine does; nobody keeps
 * what was read. Exit 77: this user cannot make a group here.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/collector.h"

enum { CANNOT = 77 };

extern const struct as_collector as_collect_cgroup;

static int64_t cpu_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int complain(const char *what, const struct as_err *err)
{
	(void)fprintf(stderr, "cgroup_sample: %s: %s\n", what, err->msg);
	return 1;
}

/* Somebody to be counted: a group without processes might be cheaper. */
static pid_t inhabit(const struct as_cgroup *cg)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)as_cgroup_join(cg);
		for (;;)
			(void)pause();
	}
	return pid;
}

static void sample(const struct as_collect *c, void *state, long samples, long batch)
{
	struct as_frame frame = {0};
	struct as_err err;

	for (long done = 0; done < samples; done += batch) {
		int64_t from = cpu_ns();

		for (long i = 0; i < batch; i++) {
			as_frame_start(&frame, done + i);
			(void)as_collect_cgroup.sample(state, c, &frame, &err);
		}
		(void)printf("%lld\n", (long long)((cpu_ns() - from) / batch));
	}
	as_frame_done(&frame);
}

static int measure(const struct as_env *env, const struct as_cgroup *cg, long samples, long batch)
{
	struct as_want want = as_want_all();
	struct as_tee nobody = {0};
	struct as_collect c = {.env = env, .want = &want, .sink = &nobody, .cgroup = cg};
	void *state = calloc(1, as_collect_cgroup.state_size);
	struct as_err err = {0};

	if (!state || as_collect_cgroup.open(state, &c, &err) < 0) {
		free(state);
		return complain("open", &err);
	}
	pid_t pid = inhabit(cg);
	sample(&c, state, samples, batch);
	as_collect_cgroup.close(state);
	free(state);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	long samples = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
	long batch = argc > 2 ? strtol(argv[2], NULL, 10) : 200;
	struct as_cgroup cg;
	struct as_err err = {0};
	struct as_env env;

	if (as_env_open(&env, &err) < 0 || as_cgroup_make(&env, "benchbenchbe", &cg, &err) < 0)
		return complain("start", &err);
	int r = cg.own ? measure(&env, &cg, samples, batch) : CANNOT;
	if (r == CANNOT)
		(void)fprintf(stderr, "cgroup_sample: %s\n", cg.why);
	as_cgroup_done(&env, &cg);
	as_env_close(&env);
	return r;
}
