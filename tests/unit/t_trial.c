/* trial -- whether a load keeps to its thresholds, decided when it can be and not before. */
#include "utest.h"

#include "base/clock.h"
#include "judge/trial.h"
#include "noise.h"

static struct as_histogram h; /* too large for a stack */
static struct as_load whole;

static struct as_thresholds parsed(const char *text)
{
	struct as_thresholds t = {0};
	struct as_err err;

	EXPECT_I64(as_thresholds_parse(text, &t, &err), AS_OK);
	return t;
}

/* A slice of a tenth of a second. */
static void add(struct as_trial *t, uint64_t requests, uint64_t failed, uint64_t met)
{
	const struct as_trial_slice s = {.latency = &h,
					 .wire = &h,
					 .waiting = &h,
					 .requests = requests,
					 .failed = failed,
					 .met = met,
					 .answers = requests,
					 .ns = AS_SECOND / 10};

	as_trial_add(t, &s);
}

/* `slices` of 200 requests each, a share `slow` of which takes 100 ms, the others 1 ms. */
static struct as_trial_view judge(const char *slo, int slices, double slow, uint64_t failed)
{
	struct as_thresholds t = parsed(slo);
	struct noise g = noise_new(3);
	struct as_trial trial;
	struct as_err err;

	EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
	for (int i = 0; i < slices; i++) {
		as_histogram_clear(&h);
		for (int k = 0; k < 200; k++)
			as_histogram_add(&h, noise_unit(&g) < slow ? 100 * AS_MSEC : AS_MSEC, 1);
		add(&trial, 200, failed, 0);
	}
	struct as_trial_view v = as_trial_judge(&trial, NULL);
	v.missed = v.missed ? &t.at[0] : NULL;
	as_trial_close(&trial);
	return v;
}

static void t_decided(void)
{
	struct as_trial_view v = judge("p99<50ms", 20, 0.001, 0);

	EXPECT(v.keeps && v.sure);
	v = judge("p99<50ms", 20, 0.05, 0);
	EXPECT(!v.keeps && v.sure && v.missed);
	v = judge("p99<500ms,errors<1%", 20, 0.05, 10);
	EXPECT(!v.keeps && v.sure);
	v = judge("p99<500ms,errors<1%", 20, 0.05, 0);
	EXPECT(v.keeps && v.sure);
}

static void t_undecided(void)
{
	EXPECT(!judge("p99<50ms", 20, 0.01, 0).sure);
	EXPECT(!judge("p99<50ms", 1, 0, 0).sure); /* 200 say too little of 1 % */
	EXPECT(!judge("p99<50ms", 0, 0, 0).sure);
}

/* Four slow ones are no reason to be sure, nor is one; ten are. */
static void t_too_few_to_be_sure(void)
{
	static const uint64_t n[] = {1, 4, 10};
	static const char *const slo[] = {"p99<50ms", "mean<50ms"};

	for (size_t i = 0; i < 2 * AS_LEN(n); i++) {
		struct as_thresholds t = parsed(slo[i % 2]);
		struct as_trial trial;
		struct as_err err;

		EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
		as_histogram_clear(&whole.latency);
		for (uint64_t k = 0; k < 10; k++) {
			as_histogram_clear(&h);
			as_histogram_add(&h, 100 * AS_MSEC, k < n[i / 2]);
			as_histogram_add(&whole.latency, 100 * AS_MSEC, k < n[i / 2]);
			add(&trial, k < n[i / 2], 0, 0);
		}
		struct as_trial_view v = as_trial_judge(&trial, NULL);
		EXPECT(!v.keeps && v.sure == (n[i / 2] >= AS_TRIAL_FEWEST));
		v = as_trial_judge(&trial, &whole);
		EXPECT(!v.keeps && v.sure == (n[i / 2] >= AS_TRIAL_FEWEST));
		as_trial_close(&trial);
	}
}

/* What is shown is what is judged: slices that had more of the slow ones only make it unsure. */
static void t_the_whole(void)
{
	struct as_thresholds t = parsed("p90<50ms");
	struct as_trial trial;
	struct as_err err;

	EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
	as_histogram_clear(&h);
	as_histogram_add(&h, 100 * AS_MSEC, 20);
	as_histogram_add(&h, AS_MSEC, 80);
	for (int i = 0; i < 8; i++)
		add(&trial, 100, 0, 0);
	EXPECT(!as_trial_judge(&trial, NULL).keeps);
	as_histogram_clear(&whole.latency);
	as_histogram_add(&whole.latency, AS_MSEC, 1000);
	struct as_trial_view v = as_trial_judge(&trial, &whole);
	EXPECT(v.keeps && !v.sure);
	as_trial_close(&trial);
}

/* What no slice knows is judged at the end, and holds up what would be early otherwise. */
static void t_the_end(void)
{
	struct as_thresholds t = parsed("looplag.p99<10ms,max<2s,rate>=10/s");
	struct as_trial trial;
	struct as_err err;

	EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
	EXPECT(!as_trial_judge(&trial, NULL).sure && as_trial_judge(&trial, NULL).keeps);
	as_histogram_add(&whole.latency, AS_SECOND, 1000);
	as_histogram_add(&whole.looplag, AS_MSEC, 1000);
	whole.requests = whole.status[1] = 1000;
	whole.measured_ns = 10 * AS_SECOND;
	struct as_trial_view v = as_trial_judge(&trial, &whole);
	EXPECT(v.keeps && !v.sure); /* the next may take longer than 2 s */
	as_histogram_add(&whole.latency, 3 * AS_SECOND, 1);
	v = as_trial_judge(&trial, &whole);
	EXPECT(!v.keeps && v.sure && v.missed == &t.at[1]);
	as_histogram_add(&whole.looplag, AS_SECOND, 500);
	v = as_trial_judge(&trial, &whole);
	EXPECT(!v.keeps && v.sure && v.missed == &t.at[0]);
	as_histogram_clear(&whole.looplag); /* nobody knows: keeps to nothing */
	EXPECT(!as_trial_judge(&trial, &whole).keeps);
	as_trial_close(&trial);
}

/* ── what is no share, and goodput, which is one ──────────────────────── */

/* Ten slices of so many requests, of which every other slice has `swing` more or less. */
static struct as_trial_view judge_swinging(const char *slo, int64_t requests, int64_t swing)
{
	struct as_thresholds t = parsed(slo);
	struct as_trial trial;
	struct as_err err;

	whole = (struct as_load){.measured_ns = AS_SECOND, .conns = 8};
	whole.bound[AS_LOAD_E2EL].within_ns = AS_SECOND;
	EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
	for (int i = 0; i < 10; i++) {
		int64_t n = requests + (i % 2 ? swing : -swing);

		as_histogram_clear(&h);
		as_histogram_add(&h, n * AS_MSEC, (uint64_t)n);
		as_histogram_merge(&whole.latency, &h);
		whole.requests += (uint64_t)n;
		whole.status[1] += (uint64_t)n;
		whole.met += (uint64_t)n - 1;
		add(&trial, (uint64_t)n, 0, (uint64_t)n - 1);
	}
	struct as_trial_view v = as_trial_judge(&trial, &whole);
	as_trial_close(&trial);
	return v;
}

static void t_means_and_rates(void)
{
	struct as_trial_view v = judge_swinging("rate>=900/s", 100, 5);

	EXPECT(v.keeps && v.sure);
	v = judge_swinging("rate>=1100/s", 100, 5);
	EXPECT(!v.keeps && v.sure);
	v = judge_swinging("rate>=990/s", 100, 50); /* a hundred, give or take fifty */
	EXPECT(v.keeps && !v.sure);
	v = judge_swinging("mean<200ms", 100, 5);
	EXPECT(v.keeps && v.sure);
	v = judge_swinging("mean<101ms", 100, 30);
	EXPECT(!v.sure);
}

static void t_goodput(void)
{
	struct as_trial_view v = judge_swinging("goodput>=0.9", 100, 5);

	EXPECT(v.keeps && v.sure);
	v = judge_swinging("goodput>=0.99", 100, 5); /* one in a hundred was late */
	EXPECT(!v.sure);
	v = judge_swinging("goodput>=0.9999", 100, 5);
	EXPECT(!v.keeps && v.sure);
	v = judge_swinging("good_requests>=900/s", 100, 5);
	EXPECT(v.keeps && v.sure);
	v = judge_swinging("good_requests>=1100/s", 100, 5);
	EXPECT(!v.keeps && v.sure);
}

/* ── streams ──────────────────────────────────────────────────────────── */

static struct as_load_streams stream; /* too large for a stack */

static void t_streams(void)
{
	static const char *const slo[] = {"ttft.p90<50ms", "tpot.p90<50ms", "first_byte.mean<1s"};

	as_load_streams_clear(&stream);
	stream.n = 100;
	as_histogram_add(&stream.first_token, 100 * AS_MSEC, 100);
	as_histogram_add(&stream.per_token, 10 * AS_MSEC, 100);
	as_histogram_add(&stream.first_byte, 10 * AS_MSEC, 100);
	for (size_t i = 0; i < AS_LEN(slo); i++) {
		struct as_thresholds t = parsed(slo[i]);
		struct as_trial trial;
		struct as_err err;

		EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
		as_histogram_clear(&h);
		for (int k = 0; k < 10; k++)
			as_trial_add(&trial, &(struct as_trial_slice){.latency = &h,
								      .wire = &h,
								      .waiting = &h,
								      .requests = 100,
								      .ns = AS_SECOND / 10,
								      .stream = &stream});
		struct as_trial_view v = as_trial_judge(&trial, NULL);
		EXPECT(v.sure && v.keeps == (i > 0));
		as_trial_close(&trial);
	}
}

/* ── steps of a flow ──────────────────────────────────────────────────── */

static struct as_load_step step[2]; /* too large for a stack */

/* Ten slices of 200 requests of two steps each: the first takes 1 ms, the second 100 ms. */
static struct as_trial_view judge_steps(const char *slo, uint64_t failed)
{
	struct as_thresholds t = parsed(slo);
	struct as_load_check check[2] = {{.step = 0}, {.step = 1}};
	struct as_trial trial;
	struct as_err err;

	EXPECT_I64(as_trial_open(&trial, &t, &err), AS_OK);
	as_trial_name_step(&trial, "login");
	as_trial_name_step(&trial, "order");
	as_trial_name_check(&trial, 0);
	as_trial_name_check(&trial, 1);
	as_histogram_clear(&h);
	for (int i = 0; i < 2; i++) {
		as_load_step_clear(&step[i]);
		step[i].requests = 200;
		step[i].status[1] = 200;
		step[i].errors[AS_LOAD_TIMEOUT] = i ? failed : 0;
		as_histogram_add(&step[i].latency, i ? 100 * AS_MSEC : AS_MSEC, 200);
	}
	for (int i = 0; i < 10; i++) {
		check[0].passed += 200;
		check[1].failed += 100;
		check[1].passed += 100;
		as_trial_add(&trial, &(struct as_trial_slice){.latency = &h,
							      .wire = &h,
							      .waiting = &h,
							      .requests = 400,
							      .ns = AS_SECOND / 10,
							      .nsteps = i == 9 ? 0 : 2,
							      .step = step,
							      .nchecks = 2,
							      .check = check});
	}
	struct as_trial_view v = as_trial_judge(&trial, NULL);
	as_trial_close(&trial);
	return v;
}

static void t_steps(void)
{
	static const struct {
		const char *slo;
		bool keeps;
	} decided[] = {
		{"p95{login}<50ms", true},      {"p95{order}<50ms", false},
		{"p95{order}<150ms", true},     {"mean{order}<50ms", false},
		{"errors{login}<5%", true},     {"errors{order}<5%", false},
		{"checks{login}>0.9", true},    {"checks{order}>0.9", false},
		{"checks>0.9", false},          {"checks>0.5", true},
		{"rate{login}>=5000/s", false},
	};

	for (size_t i = 0; i < AS_LEN(decided); i++) {
		struct as_trial_view v = judge_steps(decided[i].slo, 50);

		if (!v.sure || v.keeps != decided[i].keeps)
			UTEST_FAIL("%s: sure %d, keeps %d", decided[i].slo, v.sure, v.keeps);
	}
}

static void t_without_an_interval(void)
{
	struct as_trial_view v = judge_swinging("requests>=900", 100, 5);

	EXPECT(v.keeps && v.sure); /* they get more */
	v = judge_swinging("requests<2000", 100, 5);
	EXPECT(v.keeps && !v.sure);
	v = judge_swinging("vus<9", 100, 5);
	EXPECT(v.keeps && v.sure); /* they stay */
	v = judge_swinging("target.cpu<9", 100, 5);
	EXPECT(!v.keeps && !v.sure); /* nobody knows */
}

UTEST_MAIN(T(t_decided), T(t_undecided), T(t_too_few_to_be_sure), T(t_the_whole), T(t_the_end),
	   T(t_means_and_rates), T(t_goodput), T(t_streams), T(t_steps), T(t_without_an_interval))
