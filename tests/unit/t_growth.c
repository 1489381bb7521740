/* growth -- leaks are found and nothing else is: 200 seeded series of every kind. */
#include "judge/growth.h"

#include "noise.h"
#include "report/report.h"
#include "synth.h"

static const double MIB = 1 << 20;

enum { N = 300, ROUNDS = 200 };

/* The memory of a job, in MiB, at a moment x in 0..1 of its run. */
typedef double shape(struct noise *g, double x, const double *random);

static double flat(struct noise *g, double x, const double *random)
{
	(void)x, (void)random;
	return 300 + 10 * noise_normal(g);
}

static double wandering(struct noise *g, double x, const double *random)
{
	(void)x, (void)random;
	return 300 + 10 * noise_alike(g, 0.9);
}

/* A garbage collector: rises, and drops, any period up to half of the run, any phase. */
static double saw(struct noise *g, double x, const double *random)
{
	double period = pow(10, -2 + 1.7 * random[0]), turn = x / period + random[1];

	return 200 + (5 + 200 * random[2]) * (turn - floor(turn)) + noise_normal(g);
}

static double step(struct noise *g, double x, const double *random)
{
	return 200 + (x > 0.1 + 0.8 * random[0] ? 150 : 0) + noise_normal(g);
}

/* A cache that fills. */
static double filling(struct noise *g, double x, const double *random)
{
	return 100 + 300 * (1 - exp(-x / (0.05 + 0.1 * random[0]))) + noise_normal(g);
}

static double leak(struct noise *g, double x, const double *random)
{
	(void)random;
	return 300 + 60 * x + 10 * noise_normal(g);
}

static double leaky_saw(struct noise *g, double x, const double *random)
{
	return 120 * x + saw(g, x, (double[]){0.1 + 0.4 * random[0], random[1], 0.2 * random[2]});
}

static double stairs(struct noise *g, double x, const double *random)
{
	(void)random;
	return 300 + 5 * floor(20 * x) + 0.1 * noise_normal(g);
}

static struct as_run *make(shape *f, struct noise *g, double seconds, int n)
{
	struct as_identity who = {.id = "growthgrowth",
				  .name = (char *)(uintptr_t) "job",
				  .memory = INT64_C(8) << 30};
	struct synth s = synth_new(&who);
	double random[3] = {noise_unit(g), noise_unit(g), noise_unit(g)};

	for (int i = 0; i <= n; i++) {
		double x = (double)i / n;

		synth_tick(&s, (int64_t)(x * seconds * 1e9));
		synth_set(&s, AS_F_JOB_MEMORY, 0, i ? (int64_t)(f(g, x, random) * MIB) : AS_NA);
		synth_send(&s);
	}
	return synth_end(&s, (struct as_outcome){.duration_ns = (int64_t)(seconds * 1e9)});
}

/* How often of ROUNDS the answer is that one. */
static int counted(shape *f, enum as_growth_answer answer, uint64_t seed)
{
	struct noise g = noise_new(seed);
	int n = 0;

	for (int i = 0; i < ROUNDS; i++) {
		as_auto_run struct as_run *run = make(f, &g, 600, N);

		n += as_growth_of(run).answer == answer;
	}
	return n;
}

static void t_no_false_alarm(void)
{
	static const struct {
		const char *name;
		shape *f;
	} cases[] = {{"flat", flat},
		     {"wandering", wandering},
		     {"saw teeth", saw},
		     {"one step", step},
		     {"a cache that fills", filling}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int alarms = counted(cases[i].f, AS_GROWTH_ALARM, 100 + i);

		printf("# %s: %d alarms of %d\n", cases[i].name, alarms, ROUNDS);
		if (alarms > 5)
			UTEST_FAIL("%s: %d alarms of %d", cases[i].name, alarms, ROUNDS);
	}
}

static void t_leaks_are_found(void)
{
	static const struct {
		const char *name;
		shape *f;
	} cases[] = {{"a leak", leak}, {"with saw teeth", leaky_saw}, {"in steps", stairs}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int found = counted(cases[i].f, AS_GROWTH_ALARM, 200 + i);

		printf("# %s: found %d of %d\n", cases[i].name, found, ROUNDS);
		if (found < 190)
			UTEST_FAIL("%s: found %d of %d", cases[i].name, found, ROUNDS);
	}
}

static void t_steady_is_said(void)
{
	int steady = counted(flat, AS_GROWTH_NONE, 300);

	printf("# flat: said so %d of %d\n", steady, ROUNDS);
	EXPECT(steady > ROUNDS / 2);
}

/* The rate is in its interval, however many samples there are; and when memory is full. */
static void t_rate(void)
{
	static const int ns[] = {70, 300, 2000, 5000};
	double truth = 60 * MIB / 600;

	for (size_t i = 0; i < sizeof ns / sizeof *ns; i++) {
		struct noise g = noise_new(400 + i);
		as_auto_run struct as_run *run = make(leak, &g, 600, ns[i]);
		struct as_growth m = as_growth_of(run);

		EXPECT_I64(m.answer, AS_GROWTH_ALARM);
		EXPECT(m.low <= truth && truth <= m.high);
		EXPECT(fabs(m.rate / truth - 1) < 0.2);
		EXPECT_NEAR(m.limit, 8192 * MIB, 0);
		EXPECT_NEAR(m.left, (8192 - 360) * MIB / m.rate, 60 * MIB / m.rate);
		EXPECT_STR(m.why, "");
	}
}

/* The alarm is in the summary and in show; that all is well only in show. */
static void t_text(void)
{
	static const struct as_look look = {.width = 100};
	struct noise g = noise_new(600);
	as_auto_run struct as_run *bad = make(leak, &g, 600, 2000), *good = make(flat, &g, 600, N);
	as_auto_buf struct as_buf summary = AS_BUF(AS_BUF_FILE), show = AS_BUF(AS_BUF_FILE);

	as_report_summary(&summary, &look, bad);
	EXPECT(strstr(summary.p, "growth      memory grows by 3"));
	EXPECT(strstr(summary.p, "95 % interval 3"));
	EXPECT(strstr(summary.p, "8.0 GiB are full in 2"));
	summary.len = 0;
	as_report_summary(&summary, &look, good);
	EXPECT(!strstr(summary.p, "growth  "));
	as_report_show(&show, &look, good);
	EXPECT(strstr(show.p, "growth      memory: does not grow"));
}

static void t_too_short(void)
{
	struct noise g = noise_new(500);
	as_auto_run struct as_run *brief = make(leak, &g, 40, 300);
	as_auto_run struct as_run *sparse = make(leak, &g, 600, 40);
	struct as_run none = {.who.memory = AS_NA};

	EXPECT_I64(as_growth_of(brief).answer, AS_GROWTH_UNKNOWN);
	EXPECT_STR(as_growth_of(brief).why, "too short");
	EXPECT(isnan(as_growth_of(brief).rate));
	EXPECT_I64(as_growth_of(sparse).answer, AS_GROWTH_UNKNOWN);
	EXPECT_I64(as_growth_of(&none).answer, AS_GROWTH_UNKNOWN);
	EXPECT(isnan(as_growth_of(&none).span));
}

UTEST_MAIN(T(t_no_false_alarm), T(t_leaks_are_found), T(t_steady_is_said), T(t_rate), T(t_text),
	   T(t_too_short))
