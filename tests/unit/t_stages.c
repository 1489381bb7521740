/* stages -- plans as they are written, and every request at the moment that the integral says. */
#include "load/stages.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "load/schedule.h"
#include "utest.h"

static struct as_stages plan(const char *text, int64_t whole_ns)
{
	struct as_stages s = {.n = 0};
	struct as_err err = {0};

	if (as_stages_parse(text, whole_ns, &s, &err) != AS_OK)
		UTEST_FAIL("'%s': %s", text, err.msg);
	return s;
}

/* ── words ────────────────────────────────────────────────────────────── */

static void t_one(void)
{
	struct as_stages s = plan("120/m", 0);

	EXPECT(!as_stages_vary(&s));
	EXPECT_NEAR(as_stages_at(&s, 1e6), 2, 0);
	EXPECT_NEAR(as_stages_when(&s, 7), 3.5, 0);
	s = plan("10:100", 30 * AS_SECOND);
	EXPECT(as_stages_vary(&s));
	EXPECT_NEAR(as_stages_seconds(&s), 30, 0);
	EXPECT_NEAR(as_stages_at(&s, 10), 40, 1e-9);
	EXPECT_NEAR(as_stages_sum(&s, 30), 1650, 1e-9);
	EXPECT_NEAR(as_stages_most(&s), 100, 0);
}

static void t_several(void)
{
	struct as_stages s = plan("100@30s,100@1m,50:20@10s,0@500ms", 0);

	EXPECT_U64(s.n, 4);
	EXPECT_NEAR(as_stages_at(&s, 15), 50, 1e-9); /* from 0, as k6 */
	EXPECT_NEAR(as_stages_at(&s, 60), 100, 1e-9);
	EXPECT_NEAR(as_stages_at(&s, 90), 50, 1e-9); /* a step */
	EXPECT_NEAR(as_stages_at(&s, 100.25), 10, 1e-9);
	EXPECT_NEAR(as_stages_at(&s, 1000), 0, 0);
	EXPECT_NEAR(as_stages_seconds(&s), 100.5, 1e-9);
	EXPECT_NEAR(as_stages_sum(&s, 1000), 1500 + 6000 + 350 + 5, 1e-9);
	EXPECT(isinf(as_stages_when(&s, 7855)));
}

static void t_wrong(void)
{
	static const char *const wrong[] = {
		"",
		"x",
		":",
		"5:",
		":5",
		"5:x",
		"-5",
		"5@",
		"@5s",
		"5@0s",
		"5@5s,",
		",5@5s",
		"5@5x",
		"5,6",
		"5@1s;6",
		"5@1s,6",
		"1:2:3@5s",
		"99999999",
		"5@1s@2s",
		"5%",
		"0.00000000000000000000000000000000000000000000000000000000000000001:5",
	};
	struct as_err err = {0};
	struct as_stages s;
	char many[300] = "1@1s";

	for (size_t i = 0; i < AS_LEN(wrong); i++)
		if (as_stages_parse(wrong[i], AS_SECOND, &s, &err) != AS_EUSAGE)
			UTEST_FAIL("'%s' was taken", wrong[i]);
	EXPECT_I64(as_stages_parse("1:5", 0, &s, &err), AS_EUSAGE); /* in which time? */
	for (int i = 0; i < AS_STAGES_MOST; i++)
		strcat(many, ",1@1s");
	EXPECT_I64(as_stages_parse(many, 0, &s, &err), AS_EUSAGE);
}

/* ── the moments ──────────────────────────────────────────────────────── */

/* Each moment in turn: where the integral is the request's number, and never before the last. */
static void check_moments(const char *text, int64_t whole_ns, uint64_t count)
{
	struct as_schedule s = {0};
	struct as_err err = {0};
	int64_t before = 0, at;
	uint64_t n = 0;

	EXPECT_OK(as_schedule_plan(text, whole_ns, 0, &s, &err), err);
	as_schedule_start(&s, 1);
	for (; (at = as_schedule_next(&s)) < AS_NEVER_DUE; n++, before = at) {
		double due = as_stages_sum(&s.plan, (double)at / 1e9);

		if (at < before || fabs(due - (double)n) > 1e-4 + (double)n * 1e-9)
			UTEST_FAIL("%s: %lu is due at %ld ns, when %.6f are", text,
				   (unsigned long)n, (long)at, due);
	}
	if (n != count)
		UTEST_FAIL("%s: %lu requests, not %lu", text, (unsigned long)n,
			   (unsigned long)count);
}

static void t_every_request_at_its_moment(void)
{
	check_moments("10:100", 30 * AS_SECOND, 1650);
	check_moments("100:10", 30 * AS_SECOND, 1650);
	check_moments("0:1000", 10 * AS_SECOND, 5000);
	check_moments("1000:0", 10 * AS_SECOND, 5000);
	check_moments("100@30s,500@1m", 0, 1500 + 18000);
	check_moments("100:100@2s,500:500@2s,20:20@500ms", 0, 1210);
	check_moments("50@1s,0:0@10s,50:50@1s", 0, 25 + 50); /* a pause */
	check_moments("20000:60000@10s,10:10@3h", 0, 400000 + 108000);
}

/* In the n-th tenth of a ramp from 0 there are 2n-1 hundredths of all. */
static void t_pacing_of_a_ramp(void)
{
	struct as_schedule s = {0};
	struct as_err err = {0};
	int count[10] = {0};

	EXPECT_OK(as_schedule_plan("0:2000", 10 * AS_SECOND, 0, &s, &err), err);
	as_schedule_start(&s, 1);
	for (int64_t at; (at = as_schedule_next(&s)) < AS_NEVER_DUE;)
		count[at / AS_SECOND]++;
	for (int i = 0; i < 10; i++)
		EXPECT(abs(count[i] - 100 * (2 * i + 1)) <= 1);
	EXPECT_NEAR(s.rate, 1000, 1e-9); /* the mean */
}

/* What would not change is as it was: no number adds up. */
static void t_long(void)
{
	struct as_schedule s = {0};
	struct as_err err = {0};

	EXPECT_OK(as_schedule_plan("3", 0, 0, &s, &err), err);
	as_schedule_start(&s, 1);
	for (int i = 0; i < 3 * 86400; i++)
		(void)as_schedule_next(&s);
	EXPECT_I64(as_schedule_next(&s), 86400 * AS_SECOND);
}

static void t_random_arrivals_follow_the_plan(void)
{
	struct as_schedule s = {0};
	struct as_err err = {0};
	int first = 0, all = 0;

	EXPECT_OK(as_schedule_parse("poisson", &s, &err), err);
	EXPECT_OK(as_schedule_plan("0:20000", 10 * AS_SECOND, 0, &s, &err), err);
	as_schedule_start(&s, 3);
	for (int64_t at; (at = as_schedule_next(&s)) < AS_NEVER_DUE; all++)
		first += at < 5 * AS_SECOND;
	EXPECT(abs(all - 100000) < 4 * 316);
	EXPECT(abs(first - 25000) < 4 * 158); /* a quarter in the first half */
}

static void t_warmup_has_what_it_begins_with(void)
{
	struct as_schedule s = {0};
	struct as_err err = {0};

	EXPECT_OK(as_schedule_plan("10:100", 10 * AS_SECOND, 2 * AS_SECOND, &s, &err), err);
	EXPECT_NEAR(as_stages_at(&s.plan, 1.9), 10, 1e-9);
	EXPECT_NEAR(as_stages_at(&s.plan, 7), 55, 1e-9);
	EXPECT_NEAR(as_stages_seconds(&s.plan), 12, 1e-9);
	EXPECT_NEAR(s.rate, 55, 1e-9); /* of what is measured */
	EXPECT_OK(as_schedule_plan("10", 0, 2 * AS_SECOND, &s, &err), err);
	EXPECT(!as_stages_vary(&s.plan));
	EXPECT_I64(as_schedule_plan("0", 0, 0, &s, &err), AS_EUSAGE);
	EXPECT_I64(as_schedule_plan("0:0", AS_SECOND, 0, &s, &err), AS_EUSAGE);
}

UTEST_MAIN(T(t_one), T(t_several), T(t_wrong), T(t_every_request_at_its_moment),
	   T(t_pacing_of_a_ramp), T(t_long), T(t_random_arrivals_follow_the_plan),
	   T(t_warmup_has_what_it_begins_with))
