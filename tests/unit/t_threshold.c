/* threshold -- every form that is understood, what is not, and values that are known. */
#include "judge/threshold.h"

#include "base/clock.h"
#include "utest.h"

static struct as_load l; /* too large for a stack */

/* A hundred requests in two seconds, of 1 to 100 ms, of which four failed. */
static void measured(void)
{
	l = (struct as_load){.requests = 100,
			     .status = {[1] = 96, [4] = 2},
			     .measured_ns = 2 * AS_SECOND,
			     .bytes_in = 5000,
			     .bytes_out = 3000};
	l.errors[AS_LOAD_UNSENT] = 2;
	l.errors[AS_LOAD_STATUS_5XX] = 2;
	for (int64_t i = 1; i <= 100; i++) {
		as_histogram_add(&l.latency, i * AS_MSEC, 1);
		as_histogram_add(&l.wire, i * AS_MSEC / 2, 1);
		as_histogram_add(&l.waiting, i * AS_MSEC / 4, 1);
	}
	l.nsteps = 2;
	l.sessions = 50;
	for (size_t i = 0; i < 2; i++)
		l.step[i] = (struct as_load_step){.requests = 50, .status = {[1] = 48}};
	(void)snprintf(l.step[0].name, sizeof l.step[0].name, "login");
	(void)snprintf(l.step[1].name, sizeof l.step[1].name, "a, b: <c>");
	l.step[1].errors[AS_LOAD_TIMEOUT] = 2;
	as_histogram_add(&l.step[1].latency, 7 * AS_MSEC, 50);
	as_histogram_add(&l.step[1].wire, 6 * AS_MSEC, 50);
	as_histogram_add(&l.step[1].waiting, 5 * AS_MSEC, 50);
	as_histogram_add(&l.session, 8 * AS_MSEC, 50);
	l.nchecks = 2;
	l.check[0] = (struct as_load_check){.step = 0, .passed = 60};
	l.check[1] = (struct as_load_check){.step = 1, .passed = 36, .failed = 4};
	l.conns = 3;
}

static struct as_threshold one(const char *text)
{
	struct as_thresholds t = {0};
	struct as_err err = {0};

	if (as_thresholds_parse(text, &t, &err) != AS_OK || t.n != 1)
		UTEST_FAIL("'%s': %s", text, err.msg);
	return t.at[0];
}

static double value(const char *text)
{
	struct as_threshold t = one(text);

	return as_threshold_value(&t, &l);
}

static bool holds(const char *text)
{
	struct as_threshold t = one(text);

	return as_threshold_holds(&t, as_threshold_value(&t, &l));
}

/* ── forms ────────────────────────────────────────────────────────────── */

static void t_values(void)
{
	static const struct {
		const char *text;
		double value;
	} known[] = {
		{"p90<1", 90},
		{"p(90)<1", 90},
		{"p99.0<1", 99},
		{"p990 < 1", 99},
		{"p(50)<1", 50},
		{"med<1", 50},
		{"median<1", 50},
		{"min<1", 1},
		{"p0<1", 1},
		{"max<1", 100},
		{"p100<1", 100},
		{"mean<1", 50.5},
		{"latency.avg<1", 50.5},
		{"wire.p90<1", 45},
		{"wire p90<1", 45},
		{"waiting.p90<1", 22.5},
		{"http_req_waiting p(90)<1", 22.5},
		{"http_req_waiting: p(90)<1", 22.5},
		{"http_req_waiting{scenario:load_test} p(90)<25", 22.5},
		{"http_req_waiting{ scenario: a, b }: p(90)<25", 22.5},
		{"http_reqs{scenario:load_test}: rate>=2", 49},
		{"vus value>2", 3},
		{"vus_max>2", 3},
		{"http_req_duration p(95)<1", 95},
		{"iteration_duration max<1", 8},
		{"p99{a, b: <c>}<1", 7},
		{"wire.p99{a, b: <c>}<1", 6},
		{"wire{name:a, b: <c>}.p99<1", 6},
		{"http_req_waiting{name:a, b: <c>}: p(9)<1", 5},
		{"http_req_duration{name:a, b: <c>} p(95)<1", 7},
		{"errors{a, b: <c>}<1", 0.04},
		{"errors{login}<1", 0},
		{"rate{login}>1", 24},
		{"http_reqs{name:login} count>1", 50},
		{"checks{login}>0.9", 1},
		{"checks{a, b: <c>}>0.9", 0.9},
		{"errors<1%", 0.04},
		{"errors.rate<1%", 0.04},
		{"errors.count<1", 4},
		{"http_req_failed rate<0.01", 0.04},
		{"checks rate>0.99", 0.96},
		{"checks>99%", 0.96},
		{"rate>=1", 49},
		{"http_reqs rate>=2", 49},
		{"http_reqs count>=2", 100},
		{"requests>=2", 100},
		{"iterations rate>=2", 25},
		{"dropped_iterations count<1", 2},
		{"dropped_iterations.rate<1", 1},
		{"data_received count<1MB", 5000},
		{"data_sent<1KiB", 3000},
		{"data_received rate>1KiB", 2500},
		{"data_sent.rate<1MB", 1500},
		{"p(10.1)<1", 11},
	};

	measured();
	for (size_t i = 0; i < AS_LEN(known); i++) {
		double v = value(known[i].text);

		if (!(fabs(v - known[i].value) <= known[i].value * 0.001))
			UTEST_FAIL("%s: %g, not %g", known[i].text, v, known[i].value);
	}
}

static void t_units(void)
{
	static const char *const right[] = {
		"max<=0.1s",        "max<=100ms",      "max<=100",       "max<=100000us",
		"max<=1m",          "max<=0.01min",    "max>99999999ns", "errors<=4%",
		"errors<=0.04",     "errors>3.9%",     "rate>=49/s",     "rate>=2940/m",
		"rate<=2940.1/min", "rate>=176400/h",  "requests==100",  "requests===100",
		"requests!=99",     "data_sent<3.1kB", "data_sent<3KiB", "data_sent>=3000B",
		"data_sent<1GiB",   "data_sent<1 MB",  "max <= 100 ms",  "\tmax\t<\t1s",
		"max<=.1s",         "errors<=.04",     "errors>.03999",  "p(.5)<=1",
	};
	static const char *const wrong[] = {
		"max<0.1s",  "max<100ms", "max<1us",       "errors<4%",     "errors>4%",
		"rate>49/s", "rate<49/s", "requests==101", "requests!=100", "data_sent<2kB",
	};

	measured();
	for (size_t i = 0; i < AS_LEN(right); i++)
		if (!holds(right[i]))
			UTEST_FAIL("%s does not hold", right[i]);
	for (size_t i = 0; i < AS_LEN(wrong); i++)
		if (holds(wrong[i]))
			UTEST_FAIL("%s holds", wrong[i]);
}

static void t_unknown_keeps_to_nothing(void)
{
	static const char *const any[] = {"p99<1h",    "p99>0",     "p99!=3",
					  "errors<2",  "errors>=0", "rate>=0",
					  "checks>=0", "mean<9",    "lateness.max<9"};

	l = (struct as_load){0};
	for (size_t i = 0; i < AS_LEN(any); i++)
		EXPECT(!holds(any[i]));
	EXPECT(isnan(value("p99<1")) && isnan(value("errors<1")) && isnan(value("rate>0")));
}

static void t_lists(void)
{
	struct as_thresholds t = {0}, again = {0};
	struct as_err err = {0};
	char text[AS_LOAD_THRESHOLDS];

	EXPECT_OK(as_thresholds_parse("p99<250ms,errors<1%, rate>=100/s", &t, &err), err);
	EXPECT_OK(as_thresholds_parse("http_reqs: rate>=2, count>5, errors<3%; p50<9", &t, &err),
		  err);
	EXPECT_U64(t.n, 7);
	EXPECT_STR(t.at[0].expr, "p99<250ms");
	EXPECT_STR(t.at[2].expr, "rate>=100/s");
	EXPECT_STR(t.at[4].expr, "http_reqs: count>5");
	EXPECT_STR(t.at[5].expr, "errors<3%");
	as_thresholds_text(&t, text, sizeof text);
	EXPECT_OK(as_thresholds_parse(text, &again, &err), err);
	EXPECT_U64(again.n, t.n);
	for (size_t i = 0; i < t.n; i++) {
		EXPECT_STR(again.at[i].expr, t.at[i].expr);
		EXPECT_U64(again.at[i].metric, t.at[i].metric);
		EXPECT_NEAR(again.at[i].bound, t.at[i].bound, 0);
	}
}

static void t_what_was_missed(void)
{
	struct as_thresholds t = {0};
	struct as_err err = {0};

	measured();
	EXPECT(!as_thresholds_missed(&t, &l));
	EXPECT_OK(as_thresholds_parse("max<=100ms, errors<5%", &t, &err), err);
	EXPECT(!as_thresholds_missed(&t, &l));
	EXPECT_OK(as_thresholds_parse("errors<1%, max<1", &t, &err), err);
	EXPECT_STR(as_thresholds_missed(&t, &l)->expr, "errors<1%");
}

/* ── what is no threshold ─────────────────────────────────────────────── */

static void t_wrong(void)
{
	static const char *const wrong[] = {
		"",
		" ",
		"p99",
		"p99<",
		"<5",
		"p99<5x",
		"p99<ms",
		"p99<.",
		"p99<.ms",
		"p(.)<5",
		"p99=5",
		"p99<>5",
		"p101.5<5",
		"p(101)<5",
		"p101<5",
		"p500<5",
		"p<5",
		"p(<5",
		"p()<5",
		"p-1<5",
		"px<5",
		"latency<5",
		"wire<5",
		"nothing<5",
		"errors.max<1",
		"errors<1ms",
		"rate<5%",
		"p99<5%",
		"requests<1/s",
		"p99<1,",
		",p99<1",
		"p99<1,,p9<1",
		":p99<1",
		"a:b:p99<1",
		"http_reqs p(9)<1",
		"p99<1 && p50<2",
		"p99<1e999",
		"http_req_duration{status:200} p(95)<1",
		"http_req_duration{name:} p(95)<1",
		"http_req_duration{} p(95)<1",
		"http_req_duration{name:x p(95)<1",
		"http_req_duration{a}{b} p(95)<1",
		"data_sent{login}<1",
		"session.p99{login}<1",
		"p99{so_long_that_no_step_of_any_flow_could_be_called_it}<1",
		"http_req_blocked p(95)<1",
		"http_req_connecting{scenario:x}: p(95)<1",
		"nothing: p(95)<1",
		"http_reqs{x: rate<1",
		"http_reqs{x}{y}: rate<1",
		"http_reqs{x} y: rate<1",
		"p99<5 5",
		";",
		"http_req_duration_that_is_so_long_that_no_room_would_be_left_for_it_here:p(95)<1",
	};
	struct as_err err = {0};

	for (size_t i = 0; i < AS_LEN(wrong); i++) {
		struct as_thresholds t = {0};

		if (as_thresholds_parse(wrong[i], &t, &err) != AS_EUSAGE || !err.msg[0])
			UTEST_FAIL("'%s' was taken", wrong[i]);
	}
}

static void t_says_why(void)
{
	struct as_thresholds t = {0};
	struct as_err err = {0};

	EXPECT_I64(as_thresholds_parse("http_req_connecting p(95)<1", &t, &err), AS_EUSAGE);
	EXPECT_STR(err.msg, "http_req_connecting is not measured for itself");
	EXPECT_I64(as_thresholds_parse("http_req_duration{method:GET} p(95)<1", &t, &err),
		   AS_EUSAGE);
	EXPECT_STR(err.msg, "a load has no tag 'method'");
}

/* ── what can be known ────────────────────────────────────────────────── */

static bool possible(const char *text, const struct as_threshold_facts *f)
{
	struct as_thresholds t = {.n = 1};
	struct as_err err = {0};

	t.at[0] = one(text);
	return as_thresholds_possible(&t, f, &err) == AS_OK;
}

static void t_what_can_be_known(void)
{
	static const char *const never[] = {
		"looplag.p99<1",     "target.cpu<1",          "target.memory<1GB",
		"checks>0.9",        "handshake.p50<1",       "http_req_tls_handshaking avg<1",
		"goodput>0.9",       "http_reqs{login}>1",    "checks{login}>0.9",
		"good_requests>1/s", "good_requests.count>1",
	};
	struct as_threshold_facts f = {0};

	for (size_t i = 0; i < AS_LEN(never); i++)
		if (possible(never[i], &f))
			UTEST_FAIL("'%s' is possible", never[i]);
	EXPECT(possible("ttft.p99<1", &f) && possible("p99{scenario:x}<1", &f));
	f = (struct as_threshold_facts){.watched = true, .tls = true, .bounds = true, .nsteps = 2};
	f.step[0].name = "login";
	f.step[1].name = "order";
	f.step[0].checked = true;
	for (size_t i = 0; i < AS_LEN(never); i++)
		EXPECT(possible(never[i], &f));
	EXPECT(!possible("checks{order}>0.9", &f) && !possible("p99{pay}<1", &f));
}

static void t_no_more_than_fit(void)
{
	struct as_thresholds t = {0};
	struct as_err err = {0};

	for (size_t i = 0; i < AS_THRESHOLDS_MOST; i++)
		EXPECT_OK(as_thresholds_parse("p99<1", &t, &err), err);
	EXPECT_I64(as_thresholds_parse("p99<1", &t, &err), AS_EUSAGE);
	EXPECT_U64(t.n, AS_THRESHOLDS_MOST);
}

UTEST_MAIN(T(t_values), T(t_units), T(t_unknown_keeps_to_nothing), T(t_lists), T(t_what_was_missed),
	   T(t_wrong), T(t_says_why), T(t_what_can_be_known), T(t_no_more_than_fit))
