/* states -- who has the GIL and who waits for it, told so that it agrees. */
#include "stack/states.h"

#include "utest.h"

enum { A = 100, B = 200, N = 2 }; /* the states of two threads, where Python has them */

static struct as_pythread thread[N] = {{.snap.thread = A}, {.snap.thread = B}};
static struct as_pythread *list[N] = {&thread[0], &thread[1]};
static const struct as_pythreads all = {.at = list, .n = N};

static struct as_pygils held(uint64_t by)
{
	return (struct as_pygils){.holder = {by}, .nholders = by != 0};
}

/* With A as the holder before, as as_pystate_of() tells. */
static bool agree(uint64_t before, uint64_t after, enum as_doing a, enum as_doing b,
		  struct as_pystate s[N])
{
	const struct as_pygils first = held(before), then = held(after);

	s[0] = (struct as_pystate){.doing = a, .gil = before == A ? AS_GIL_HOLDS : AS_GIL_NOT};
	s[1] = (struct as_pystate){.doing = b, .gil = before == B ? AS_GIL_HOLDS : AS_GIL_NOT};
	return as_pystates_agree(&all, &first, &then, s);
}

static void t_one_has_it_and_one_waits(void)
{
	struct as_pystate s[N];

	EXPECT(agree(A, A, AS_DOING_RUNS, AS_DOING_WANTS, s));
	EXPECT_I64(s[0].gil, AS_GIL_HOLDS);
	EXPECT_I64(s[1].gil, AS_GIL_NOT);
	EXPECT(agree(A, A, AS_DOING_CALL, AS_DOING_IDLE, s)); /* in a call, and keeps it */
	EXPECT_I64(s[0].gil, AS_GIL_HOLDS);
}

static void t_nobody_has_what_he_waits_for(void)
{
	struct as_pystate s[N];

	EXPECT(!agree(A, A, AS_DOING_WANTS, AS_DOING_RUNS, s));
	EXPECT_I64(s[0].gil, AS_GIL_NOT);
	EXPECT_I64(s[1].gil, AS_GIL_NOT);
}

static void t_one_that_went_from_hand_to_hand_is_either_s(void)
{
	struct as_pystate s[N];

	EXPECT(!agree(A, B, AS_DOING_RUNS, AS_DOING_RUNS, s));
	EXPECT_I64(s[0].gil, AS_GIL_PERHAPS);
	EXPECT_I64(s[1].gil, AS_GIL_PERHAPS);
	EXPECT(!agree(A, B, AS_DOING_WANTS, AS_DOING_RUNS, s));
	EXPECT_I64(s[0].gil, AS_GIL_NOT);
	EXPECT_I64(s[1].gil, AS_GIL_PERHAPS);
}

static void t_a_free_one_is_waited_for_by_nobody(void)
{
	struct as_pystate s[N];

	EXPECT(agree(0, 0, AS_DOING_IDLE, AS_DOING_RUNS, s));
	EXPECT(!agree(0, 0, AS_DOING_WANTS, AS_DOING_IDLE, s));
	EXPECT_I64(s[0].gil, AS_GIL_NOT);
}

UTEST_MAIN(T(t_one_has_it_and_one_waits), T(t_nobody_has_what_he_waits_for),
	   T(t_one_that_went_from_hand_to_hand_is_either_s),
	   T(t_a_free_one_is_waited_for_by_nobody))
