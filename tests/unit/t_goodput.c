/* goodput -- what a good answer is, as it is written, and what share was good. */
#include "judge/goodput.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "utest.h"

static struct as_load l; /* too large for a stack */

static int parse(const char *text, int64_t *within)
{
	struct as_err err = {0};

	for (size_t b = 0; b < AS_LOAD_NBOUNDS; b++)
		within[b] = 0;
	return as_goodput_parse(text, within, &err);
}

static void t_as_it_is_written(void)
{
	int64_t w[AS_LOAD_NBOUNDS];

	EXPECT_I64(parse("ttft<500ms,tpot<50ms,e2el<10s", w), AS_OK);
	EXPECT_I64(w[AS_LOAD_TTFT], 500 * AS_MSEC);
	EXPECT_I64(w[AS_LOAD_TPOT], 50 * AS_MSEC);
	EXPECT_I64(w[AS_LOAD_E2EL], 10 * AS_SECOND);
	EXPECT_I64(parse(" tpot <= 2.5 , ttft < 1 m", w), AS_OK);
	EXPECT_I64(w[AS_LOAD_TPOT], 2500 * AS_USEC);
	EXPECT_I64(w[AS_LOAD_TTFT], 60 * AS_SECOND);
	EXPECT_I64(w[AS_LOAD_E2EL], 0);
}

static void t_what_is_none(void)
{
	static const char *const wrong[] = {
		"",
		"ttft",
		"ttft<",
		"ttft>1s",
		"itl<1s",
		"ttft:500",
		"ttft<1s,",
		"ttft<0",
		"ttft<-1s",
		"ttft<1s,ttft<2s",
		"ttft<1 x",
		"<1s",
		"ttft<1s;e2el<1",
		"p99<1s",
		"ttftx<1s",
		"ttft<=<1s",
		"ttft<1%,,,",
		"ttft<1000000000000000000000000000000000000000000000000000000000000000ms",
	};
	int64_t w[AS_LOAD_NBOUNDS];

	for (size_t i = 0; i < AS_LEN(wrong); i++)
		if (parse(wrong[i], w) != AS_EUSAGE)
			UTEST_FAIL("'%s' is taken", wrong[i]);
}

/* Ten requests in two seconds: two failed, six kept to both, one had no token, one came late. */
static void t_the_share(void)
{
	l = (struct as_load){.requests = 10, .met = 6, .measured_ns = 2 * AS_SECOND};
	EXPECT(isnan(as_load_goodput(&l)) && isnan(as_load_good_rate(&l))); /* nothing is asked */
	l.bound[AS_LOAD_TTFT] = (struct as_load_bound){AS_SECOND, 7, 0, 1};
	l.bound[AS_LOAD_E2EL] = (struct as_load_bound){AS_SECOND, 7, 1, 0};
	EXPECT_NEAR(as_load_goodput(&l), 0.6, 1e-9);
	EXPECT_NEAR(as_load_good_rate(&l), 3, 1e-9);
	EXPECT_I64(as_load_unknown_bound(&l), AS_LOAD_NBOUNDS);
	l.bound[AS_LOAD_TTFT] = (struct as_load_bound){AS_SECOND, 0, 8, 0};
	l.met = 0;
	EXPECT_NEAR(as_load_goodput(&l), 0, 1e-9); /* it is known that none was */
	l.bound[AS_LOAD_TTFT] = (struct as_load_bound){AS_SECOND, 0, 0, 8};
	EXPECT_I64(as_load_unknown_bound(&l), AS_LOAD_TTFT);
	EXPECT(isnan(as_load_goodput(&l)) && isnan(as_load_good_rate(&l))); /* nobody knows */
	l.bound[AS_LOAD_TTFT] = (struct as_load_bound){AS_SECOND, 0, 0, 0};
	EXPECT_NEAR(as_load_goodput(&l), 0, 1e-9); /* all failed */
}

static void t_of_a_step(void)
{
	l = (struct as_load){.requests = 10, .met = 6, .measured_ns = AS_SECOND, .nsteps = 2};
	l.step[0].requests = 4;
	l.step[1].requests = 6;
	EXPECT(isnan(as_load_step_goodput(&l, &l.step[0]))); /* nothing is asked */
	l.bound[AS_LOAD_E2EL] = (struct as_load_bound){AS_SECOND, 6, 4, 0};
	EXPECT(isnan(as_load_step_goodput(&l, &l.step[0]))); /* steps were not judged then */
	l.step[0].met = 3;
	l.step[1].met = 3;
	EXPECT_NEAR(as_load_step_goodput(&l, &l.step[0]), 0.75, 1e-9);
	EXPECT_NEAR(as_load_step_goodput(&l, &l.step[1]), 0.5, 1e-9);
	l.step[1].requests = 0;
	EXPECT(isnan(as_load_step_goodput(&l, &l.step[1])));
}

UTEST_MAIN(T(t_as_it_is_written), T(t_what_is_none), T(t_the_share), T(t_of_a_step))
