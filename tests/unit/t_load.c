/* load -- schedules, verdicts on loads, and how the store keeps one. */
#include "judge/load.h"
#include "judge/verdict.h"
#include "load/schedule.h"
#include "base/clock.h"
#include "base/fault.h"
#include "store/loads.h"
#include "utest.h"

enum { MANY = 200000 };

static struct as_load l, back; /* too large for a stack */

/* ── schedules ────────────────────────────────────────────────────────── */

static void t_constant(void)
{
	struct as_schedule s = {.rate = 3};
	struct as_err err = {0};

	EXPECT_OK(as_schedule_parse("constant", &s, &err), err);
	as_schedule_start(&s, 1);
	EXPECT_I64(as_schedule_next(&s), 0);
	EXPECT_I64(as_schedule_next(&s), 333333333);
	for (int i = 2; i < 3 * 86400; i++)
		(void)as_schedule_next(&s);
	EXPECT_I64(as_schedule_next(&s), 86400 * AS_SECOND); /* nothing added up in a day */
}

/* Gaps of mean 1/rate whose deviation, in means, is 1/sqrt(shape). */
static void check_random(const char *how, double deviation)
{
	struct as_schedule s = {.rate = 1000};
	struct as_err err = {0};
	double sum = 0, squares = 0;
	int64_t before = 0;

	EXPECT_OK(as_schedule_parse(how, &s, &err), err);
	as_schedule_start(&s, 7);
	for (int i = 0; i < MANY; i++) {
		int64_t at = as_schedule_next(&s);
		double gap = (double)(at - before) / 1e6;

		EXPECT(at >= before);
		sum += gap;
		squares += gap * gap;
		before = at;
	}
	EXPECT_NEAR(sum / MANY, 1, 0.02);
	EXPECT_NEAR(sqrt(squares / MANY - 1), deviation, deviation * 0.03);
}

static void t_random_arrivals(void)
{
	check_random("poisson", 1);
	check_random("gamma:4", 0.5);
	check_random("gamma:0.5", sqrt(2));
}

static void t_the_same_seed_gives_the_same_moments(void)
{
	struct as_schedule a = {.rate = 5, .arrival = AS_ARRIVE_POISSON}, b = a, c = a;
	bool other = false;

	as_schedule_start(&a, 3);
	as_schedule_start(&b, 3);
	as_schedule_start(&c, 4);
	for (int i = 0; i < 100; i++) {
		int64_t at = as_schedule_next(&a);

		EXPECT_I64(as_schedule_next(&b), at);
		other |= as_schedule_next(&c) != at;
	}
	EXPECT(other);
}

static void t_wrong_arrivals(void)
{
	static const char *const wrong[] = {"",         "x",          "gamma",
					    "gamma:",   "gamma:0",    "gamma:-1",
					    "gamma:2x", "gamma:5000", "constantly"};
	struct as_schedule s = {0};
	struct as_err err = {0};

	for (size_t i = 0; i < AS_LEN(wrong); i++)
		EXPECT_I64(as_schedule_parse(wrong[i], &s, &err), AS_EUSAGE);
}

/* ── verdicts ─────────────────────────────────────────────────────────── */

/* A load of a second in which all went well: 1000 answers of 5 ms. */
static void fine(void)
{
	l = (struct as_load){.rate = 1000,
			     .requests = 1000,
			     .status = {[1] = 1000},
			     .measured_ns = AS_SECOND,
			     .sending_ns = AS_SECOND,
			     .cpu_ns = AS_SECOND / 10};
	as_histogram_add(&l.latency, 5 * AS_MSEC, 1000);
	as_histogram_add(&l.lateness, 20000, 1000);
}

static const char *verdict(void)
{
	static struct as_run run;

	run = (struct as_run){.load = &l};
	as_judge(&run);
	EXPECT_I64(as_load_is_invalid(&run.verdict), strncmp(run.verdict.kind, "valid", 5) != 0);
	return run.verdict.kind;
}

/* Who waited for a CPU was busy, and a reader of both figures is told so. */
static void t_busy_is_told_whole(void)
{
	static struct as_run run;

	fine();
	l.cpu_ns = l.sending_ns * 8 / 100;
	l.wait_ns = l.sending_ns * 15 / 100;
	run = (struct as_run){.load = &l};
	as_judge(&run);
	EXPECT_STR(run.verdict.evidence[0].what, "generator busy");
	EXPECT_STR(run.verdict.evidence[0].value, "23 %: ran 8.0 %, waited for a CPU 15 %");
	l.cpu_ns = l.wait_ns = l.sending_ns / 10000; /* the longest that it can be */
	as_judge(&run);
	EXPECT_STR(run.verdict.evidence[0].value, "<0.1 %: ran <0.1 %, waited for a CPU <0.1 %");
}

static void t_verdicts(void)
{
	fine();
	EXPECT_STR(verdict(), "valid");
	l.cpu_ns = AS_SECOND * 9 / 10;
	EXPECT_STR(verdict(), "invalid-busy");
	fine();
	l.wait_ns = AS_SECOND * 8 / 10; /* it wanted to run, and others did */
	EXPECT_STR(verdict(), "invalid-busy");
	fine();
	l.wait_ns = AS_SECOND / 5;
	EXPECT_STR(verdict(), "invalid-starved");
	fine();
	as_histogram_add(&l.lateness, 3 * AS_MSEC, 20);
	EXPECT_STR(verdict(), "invalid-late");
	fine();
	as_histogram_add(&l.lateness, 900000, 500); /* below a millisecond nobody is late */
	EXPECT_STR(verdict(), "valid");
	fine();
	as_histogram_add(&l.latency, 50 * AS_MSEC, 9000);
	as_histogram_add(&l.lateness, 4 * AS_MSEC, 500); /* of 50 ms that is little */
	EXPECT_STR(verdict(), "valid");
	fine();
	l.status[1] = 0;
	EXPECT_STR(verdict(), "invalid-none");
	fine();
	l.errors[AS_LOAD_DESCRIPTORS] = 1; /* which says nothing of the server */
	EXPECT_STR(verdict(), "invalid-descriptors");
}

/* Of few requests the 99th percentile is the slowest: one hiccup is no verdict. */
static void t_too_short_for_a_verdict(void)
{
	fine();
	as_histogram_clear(&l.lateness);
	as_histogram_add(&l.lateness, 20000, 9);
	as_histogram_add(&l.lateness, 3 * AS_MSEC, 1);
	EXPECT_STR(verdict(), "valid-short");
	as_histogram_add(&l.lateness, 20000, 190);
	as_histogram_add(&l.lateness, 3 * AS_MSEC, 50);
	EXPECT_STR(verdict(), "valid-short");
	as_histogram_add(&l.lateness, 3 * AS_MSEC, 50); /* 300 say enough */
	EXPECT_STR(verdict(), "invalid-late");
	fine();
	as_histogram_add(&l.lateness, 3 * AS_MSEC, 13); /* 1.3 % of 1013 may as well be 1 % */
	EXPECT_STR(verdict(), "valid");
	fine();
	l.sending_ns = l.cpu_ns = AS_MSEC;
	l.wait_ns = 4 * AS_MSEC;
	EXPECT_STR(verdict(), "valid-short");
	fine();
	l.rate = 0; /* a closed loop has no schedule to be late for */
	as_histogram_clear(&l.lateness);
	as_histogram_add(&l.lateness, 0, 10);
	EXPECT_STR(verdict(), "valid");
}

/* ── in the store ─────────────────────────────────────────────────────── */

static const struct as_load_target watched = {.name = "app",
					      .pid = 7,
					      .ended_ns = AS_NA,
					      .cpu_ns = 3,
					      .cores = 0.5,
					      .cores_most = 1.5,
					      .memory = AS_NA,
					      .processes = 1,
					      .threads = 2,
					      .files = 3,
					      .lags = 4,
					      .blocks = 1,
					      .lag_p50 = 5,
					      .lag_p99 = 6,
					      .lag_max = 7,
					      .limit = "none",
					      .session_how = AS_SESSION_KEPT,
					      .sessions = 8,
					      .session_growth = AS_NA,
					      .session_bytes = 9};

static void t_kept(void)
{
	as_auto_buf struct as_buf b = AS_BUF(AS_BUF_FILE);
	size_t whole = 0;

	fine();
	as_histogram_add(&l.looplag, 5 * AS_MSEC, 9);
	l.ntargets = 2;
	l.target[0] = l.target[1] = watched;
	l.errors[AS_LOAD_TIMEOUT] = 3;
	l.bytes_in = UINT64_C(1) << 40;
	l.wait_ns = 7;
	l.bound[AS_LOAD_E2EL] = (struct as_load_bound){.within_ns = 9, .kept = 3, .missed = 2};
	l.bound[AS_LOAD_TTFT] = (struct as_load_bound){.within_ns = 8, .kept = 4, .unknown = 1};
	l.bound[AS_LOAD_TPOT] = (struct as_load_bound){.within_ns = 7, .missed = 5};
	l.met = 3;
	l.stream.n = 2;
	l.stream.tokens = 5;
	as_histogram_add(&l.stream.event_lag, 77, 2);
	as_histogram_add(&l.wire, INT64_MAX, 1);
	as_histogram_add(&l.wire, 0, 5);
	l.unasked = 3;
	l.sessions = 4;
	l.broken = 1;
	l.nsteps = 2;
	memcpy(l.step[1].name, "second", 7);
	l.step[1].requests = 6;
	l.step[1].errors[AS_LOAD_UNTIL] = 2;
	as_histogram_add(&l.step[1].latency, 3, 6);
	as_histogram_add(&l.step[1].waiting, 2, 6);
	as_histogram_add(&l.waiting, 2, 6);
	as_histogram_add(&l.stream.between_tokens, 4, 2);
	l.nchecks = 1;
	l.check[0] = (struct as_load_check){"status", 1, 5, 1};
	l.rollouts.asked = 7;
	l.rollouts.back = 6;
	l.rollouts.gym = 1;
	as_histogram_add(&l.rollouts.verify, 11, 2);
	as_enc_load(&b, &l);
	EXPECT(!b.bad);
	struct as_bytes in = as_bytes(b.p, b.len);
	as_dec_load(&in, &back);
	EXPECT(!in.bad);
	EXPECT(!memcmp(&l, &back, sizeof l));
	for (size_t n = 0; n < b.len; n++) { /* cut anywhere, it is damage */
		in = as_bytes(b.p, n);
		as_dec_load(&in, &back);
		whole += !in.bad;
	}
	/* but where those ended that were kept before servers, climbs, flows, and so on */
	EXPECT_I64(whole, 6);
}

static void t_errors_have_names(void)
{
	for (unsigned e = 0; e < AS_LOAD_NERRORS; e++) {
		EXPECT_I64(as_load_error_find(as_load_error_key((enum as_load_error)e)), e);
		EXPECT(*as_load_error_help((enum as_load_error)e));
	}
	EXPECT_I64(as_load_error_find("none"), AS_LOAD_NERRORS);
}

UTEST_MAIN(T(t_constant), T(t_random_arrivals), T(t_the_same_seed_gives_the_same_moments),
	   T(t_wrong_arrivals), T(t_busy_is_told_whole), T(t_verdicts),
	   T(t_too_short_for_a_verdict), T(t_kept), T(t_errors_have_names))
