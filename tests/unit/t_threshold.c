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
	}
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
		{"http_req_waiting p(90)<1", 45},
		{"http_req_waiting: p(90)<1", 45},
		{"http_req_duration p(95)<1", 95},
		{"iteration_duration max<1", 100},
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
		{"iterations rate>=2", 49},
		{"dropped_iterations count<1", 2},
		{"dropped_iterations.rate<1", 1},
		{"data_received count<1MB", 5000},
		{"data_sent<1KiB", 3000},
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
		"p99=5",
		"p99<>5",
		"p101.5<5",
		"p(101)<5",
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
		"http_req_duration{name:x} p(95)<1",
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
	   T(t_wrong), T(t_no_more_than_fit))
