#include "judge/phases.h"

#include <time.h>

#include "base/clock.h"
#include "noise.h"
#include "synth.h"

#define MIB 1048576.0

/* A stretch of a synthetic run: rates of it, and the memory that it ends with. */
struct stage {
	double seconds;
	double cores, wait, read, write; /* a second, bytes a second */
	double memory;                   /* bytes at its end; a straight line leads there */
	double user;                     /* share of the CPU time    */
};

/* A sample every `step` seconds, with some noise on every rate. */
static struct as_run *perform(const struct stage *st, size_t n, double step, double noise)
{
	struct synth s = synth_new(&(struct as_identity){.cpus = 4, .interval_ns = AS_SECOND / 2});
	struct noise g = noise_new(7);
	double t = 0, sum[5] = {0}, memory = st[0].memory, last = 0;

	for (size_t k = 0; k < n; last += st[k++].seconds) {
		double from = memory, begin = last;

		for (; t < begin + st[k].seconds; t += step) {
			double jitter = step * (1 + noise * noise_alike(&g, 0.5));

			synth_tick(&s, (int64_t)(t * 1e9));
			synth_set(&s, AS_F_JOB_CPU, 0, (int64_t)(sum[0] * 1e9));
			synth_set(&s, AS_F_JOB_USER, 0, (int64_t)(sum[1] * 1e9));
			synth_set(&s, AS_F_JOB_WAIT, 0, (int64_t)(sum[2] * 1e9));
			synth_set(&s, AS_F_JOB_RCHAR, 0, (int64_t)sum[3]);
			synth_set(&s, AS_F_JOB_WRITE, 0, (int64_t)sum[4]);
			memory = from + (st[k].memory - from) * (t - begin) / st[k].seconds;
			synth_set(&s, AS_F_JOB_MEMORY, 0, (int64_t)memory);
			synth_send(&s);
			sum[0] += st[k].cores * jitter;
			sum[1] += st[k].cores * st[k].user * jitter;
			sum[2] += st[k].wait * jitter;
			sum[3] += st[k].read * jitter;
			sum[4] += st[k].write * jitter;
		}
	}
	return synth_end(&s, (struct as_outcome){.status = AS_SUCCESS,
						 .duration_ns = (int64_t)((t - step) * 1e9)});
}

static struct as_phases phases_of(const struct as_run *run)
{
	struct as_phases p;
	struct as_err err;

	EXPECT_OK(as_phases_find(run, &p, &err), err);
	return p;
}

struct want {
	double from;
	enum as_phase_kind kind;
	const char *name; /* how it begins */
};

static void expect(const struct as_phases *p, const struct want *w, size_t n, double step)
{
	for (size_t i = 0; i < p->n; i++)
		printf("# %.2f to %.2f s: %s\n", as_seconds(p->at[i].from_ns),
		       as_seconds(p->at[i].to_ns), p->at[i].name);
	EXPECT_U64(p->n, n);
	for (size_t i = 0; i < n; i++) {
		EXPECT_NEAR(as_seconds(p->at[i].from_ns), w[i].from, step * 1.01);
		EXPECT_STR(as_phase_kind_name(p->at[i].kind), as_phase_kind_name(w[i].kind));
		EXPECT(!strncmp(p->at[i].name, w[i].name, strlen(w[i].name)));
		EXPECT(i == 0 || p->at[i].from_ns == p->at[i - 1].to_ns);
	}
}

static void t_each_has_its_character(void)
{
	const struct stage st[] = {
		{.seconds = 10, .cores = 1.9, .user = 0.95, .memory = 100 * MIB},
		{.seconds = 10, .cores = 0.01, .memory = 100 * MIB},
		{.seconds = 10, .cores = 0.3, .user = 0.1, .read = 120 * MIB, .memory = 100 * MIB},
		{.seconds = 10, .cores = 0.2, .user = 0.1, .write = 64 * MIB, .memory = 100 * MIB},
		{.seconds = 10, .cores = 0.3, .user = 0.2, .memory = 1228.8 * MIB},
		{.seconds = 10, .cores = 0.4, .user = 0.9, .memory = 1228.8 * MIB},
	};
	const struct want w[] = {
		{0, AS_PHASE_CPU, "CPU-bound, 1.9 cores"}, {10, AS_PHASE_WAITING, "waiting"},
		{20, AS_PHASE_READING, "reading 1"},       {30, AS_PHASE_WRITING, "writing 6"},
		{40, AS_PHASE_GROWING, "growing to 1.1"},  {50, AS_PHASE_BUSY, "busy, 0."},
	};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.5, 0.03);
	struct as_phases p = phases_of(run);

	expect(&p, w, AS_LEN(w), 0.5);
	EXPECT_NEAR(p.at[0].cores, 1.9, 0.06);
	EXPECT_NEAR(p.at[0].memory, 100 * MIB, MIB);
	EXPECT_NEAR(p.at[2].read, 120 * MIB, 4 * MIB);
	EXPECT_NEAR(p.at[3].write, 64 * MIB, 2 * MIB);
	EXPECT_NEAR(p.at[4].rise, 1128 * MIB, 60 * MIB);
}

/* The mean is over the phase: long and short samples count by their time. */
static void t_steady_growth_is_one_phase(void)
{
	const struct stage st[] = {{.seconds = 20, .cores = 1, .user = 1, .memory = 10 * MIB},
				   {.seconds = 60, .cores = 1, .user = 1, .memory = 900 * MIB},
				   {.seconds = 20, .cores = 1, .user = 1, .memory = 900 * MIB}};
	const struct want w[] = {{0, AS_PHASE_CPU, "CPU-bound, 1.0 cores"},
				 {20, AS_PHASE_CPU, "CPU-bound, 1.0 cores, growing to 8"},
				 {80, AS_PHASE_CPU, "CPU-bound, 1.0 cores"}};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.5, 0.02);
	struct as_phases p = phases_of(run);

	expect(&p, w, AS_LEN(w), 1.0);
}

/* Half of the CPU goes to others for a while: the job does what it did. */
static void t_others_on_the_machine_are_no_phase(void)
{
	const struct stage st[] = {
		{.seconds = 20, .cores = 1, .user = 1, .memory = MIB},
		{.seconds = 20, .cores = 0.5, .wait = 0.5, .user = 1, .memory = MIB}};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.5, 0.02);
	struct as_phases p = phases_of(run);

	EXPECT_U64(p.n, 1);
	EXPECT_STR(p.at[0].name, "CPU-bound, 0.75 cores");
}

/* A build that gets a third of a core still is one; who copies is not, however little it gets. */
static void t_starved(void)
{
	const struct stage st[] = {{.seconds = 20,
				    .cores = 0.4,
				    .wait = 2.6,
				    .user = 0.8,
				    .read = 4 * MIB,
				    .memory = MIB},
				   {.seconds = 20,
				    .cores = 0.4,
				    .wait = 0.8,
				    .user = 0.1,
				    .read = 40 * MIB,
				    .memory = MIB}};
	const struct want w[] = {{0, AS_PHASE_CPU,
				  "CPU-bound, 0.40 cores, short of CPU, reading 4.0 MiB/s"},
				 {20, AS_PHASE_READING, "reading 40 MiB/s"}};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.5, 0);
	struct as_phases p = phases_of(run);

	expect(&p, w, AS_LEN(w), 0.5);
}

/* All that can be said of one fits, units and all. */
static void t_long_names_are_whole(void)
{
	const struct stage st[] = {{.seconds = 20,
				    .cores = 0.4,
				    .wait = 2.6,
				    .user = 0.9,
				    .read = 101 * MIB,
				    .write = 102 * MIB,
				    .memory = 900 * MIB},
				   {.seconds = 20,
				    .cores = 0.4,
				    .wait = 2.6,
				    .user = 0.9,
				    .read = 101 * MIB,
				    .write = 102 * MIB,
				    .memory = 100 * MIB},
				   {.seconds = 20, .memory = 100 * MIB}};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.5, 0);
	struct as_phases p = phases_of(run);

	EXPECT_U64(p.n, 3);
	EXPECT_STR(p.at[1].name, "CPU-bound, 0.40 cores, short of CPU, reading 101 MiB/s, "
				 "writing 102 MiB/s, shrinking by 800 MiB");
}

/* A sample that is half the phase before does not make a waiting phase a busy one. */
static void t_the_rim_does_not_name_a_phase(void)
{
	const struct stage st[] = {{.seconds = 4, .cores = 0.9, .user = 1, .memory = 90 * MIB},
				   {.seconds = 0.2, .cores = 0.3, .memory = 8 * MIB},
				   {.seconds = 0.8, .memory = 8 * MIB}};
	const struct want w[] = {{0, AS_PHASE_CPU, "CPU-bound"}, {4, AS_PHASE_WAITING, "waiting"}};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 0.2, 0.02);
	struct as_phases p = phases_of(run);

	expect(&p, w, AS_LEN(w), 0.2);
	EXPECT(p.at[1].cores > 0.05);
}

static void t_without_a_timeline_there_is_none(void)
{
	struct synth s = synth_new(&(struct as_identity){0});
	as_auto_run struct as_run *run = synth_end(&s, (struct as_outcome){0});

	EXPECT_U64(phases_of(run).n, 0);
}

static void t_what_is_unknown_is_no_reason(void)
{
	struct synth s = synth_new(&(struct as_identity){0});

	for (int i = 0; i < 40; i++) {
		synth_tick(&s, i * AS_SECOND);
		synth_set(&s, AS_F_JOB_MEMORY, 0, i < 20 ? 10 << 20 : 90 << 20);
		synth_send(&s);
	}
	as_auto_run struct as_run *run =
		synth_end(&s, (struct as_outcome){.duration_ns = 39 * AS_SECOND});
	struct as_phases p = phases_of(run);
	EXPECT_U64(p.n, 2);
	EXPECT_U64(p.at[0].kind, AS_PHASE_UNKNOWN);
	EXPECT(isnan(p.at[0].cores));
	EXPECT_NEAR(p.at[1].memory, 90 * MIB, 1);
}

/* A day at one sample a second, something else every half hour: still few phases, and soon. */
static void t_many_changes_stay_few_and_cheap(void)
{
	struct stage st[40];
	struct timespec t0, t1;

	for (size_t i = 0; i < AS_LEN(st); i++)
		st[i] = (struct stage){.seconds = 2160,
				       .cores = i % 2 ? 3 : 0.5,
				       .user = 1,
				       .read = i % 3 ? 0 : 50 * MIB,
				       .memory = MIB * (1 + (double)(i % 5) * 100)};
	as_auto_run struct as_run *run = perform(st, AS_LEN(st), 1, 0.05);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	struct as_phases p = phases_of(run);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	double took = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9;
	printf("# %zu phases, %.0f ms CPU\n", p.n, took * 1e3);
	EXPECT(p.n > 1 && p.n <= AS_PHASES_MAX);
	EXPECT(p.at[p.n - 1].to_ns == run->series[AS_JOB]->t[run->series[AS_JOB]->n - 1]);
}

UTEST_MAIN(T(t_each_has_its_character), T(t_steady_growth_is_one_phase),
	   T(t_others_on_the_machine_are_no_phase), T(t_starved), T(t_long_names_are_whole),
	   T(t_the_rim_does_not_name_a_phase), T(t_without_a_timeline_there_is_none),
	   T(t_what_is_unknown_is_no_reason), T(t_many_changes_stay_few_and_cheap))
