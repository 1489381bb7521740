/* loops -- periods become blocks, and the stack that most looks agree on wins. */
#include "utest.h"

#include "profile/loops.h"

#define MS INT64_C(1000000)

static struct as_loops loops;
static struct as_err err;

static uint32_t place(const char *function, int32_t line)
{
	uint32_t text = as_profile_text(loops.profile, function, strlen(function));

	return as_profile_place(loops.profile, (struct as_place){text, text, line, 1});
}

static uint32_t call(uint32_t caller, const char *function, int32_t line)
{
	return as_profile_stack(loops.profile, caller, place(function, line));
}

static void t_blocks(void)
{
	EXPECT_OK(as_loops_init(&loops, &err), err);
	loops.threshold_ns = 10 * MS;
	struct as_loop *a = as_loops_of(&loops, 7), *b = as_loops_of(&loops, 8);
	EXPECT(a && b && a != b && as_loops_of(&loops, 7) == a);
	as_loops_add(&loops, a, &(struct as_loop_block){.duration_ns = 9 * MS});
	as_loops_add(&loops, a, &(struct as_loop_block){.duration_ns = 10 * MS, .tid = 7});
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_U64(a->over, 1);
	EXPECT_U64(a->busy.n, 2);
	b->busy_ns = 1;
	a->wait = b->wait = "epoll_wait";
	as_loops_settle(&loops);
	EXPECT(loops.loop[0] == b);
	as_loops_done(&loops);
}

/* Of two that poll, the one that waits mostly for a lock is a worker, and no loop. */
static void t_workers(void)
{
	EXPECT_OK(as_loops_init(&loops, &err), err);
	for (int32_t tid = 1; tid <= 3; tid++) {
		struct as_loop *x = as_loops_of(&loops, tid);

		x->wait = tid == 3 ? "epoll_wait" : "poll";
		x->watched_ns = 1000 * MS;
		x->busy_ns = tid == 2 ? 300 * MS : 700 * MS;
		as_loops_add(&loops, x,
			     &(struct as_loop_block){.tid = tid,
						     .duration_ns = x->busy_ns,
						     .cause = AS_LOOP_LOCK});
	}
	as_loops_settle(&loops);
	EXPECT_U64(loops.n, 2);
	EXPECT_U64(loops.nblocks, 2);
	EXPECT_I64(loops.loop[0]->tid, 3);
	EXPECT_I64(loops.loop[1]->tid, 2);
	as_loops_done(&loops);
}

/* A worker that polls longer than it waits for work is one all the same, block or not. */
static void t_busy_workers(void)
{
	EXPECT_OK(as_loops_init(&loops, &err), err);
	loops.threshold_ns = 50 * MS;
	for (int32_t tid = 1; tid <= 2; tid++) {
		struct as_loop *x = as_loops_of(&loops, tid);

		x->wait = "poll";
		x->watched_ns = 1000 * MS;
		for (int i = 0; i < 5; i++)
			as_loops_add(&loops, x,
				     &(struct as_loop_block){.tid = tid,
							     .duration_ns = 40 * MS,
							     .cause = tid == 1 || i < 2
									      ? AS_LOOP_LOCK
									      : AS_LOOP_GIL});
		x->busy_ns = 200 * MS;
	}
	as_loops_settle(&loops);
	EXPECT_U64(loops.n, 1);
	EXPECT_I64(loops.loop[0]->tid, 2);
	as_loops_done(&loops);
}

static void t_too_many(void)
{
	EXPECT_OK(as_loops_init(&loops, &err), err);
	for (int32_t i = 0; i < AS_LOOPS_MOST; i++)
		EXPECT(as_loops_of(&loops, i + 1));
	EXPECT(!as_loops_of(&loops, AS_LOOPS_MOST + 1));
	for (size_t i = 0; i < AS_LOOP_BLOCKS_MOST + 3; i++)
		as_loops_add(&loops, loops.loop[0], &(struct as_loop_block){.duration_ns = 1});
	EXPECT_U64(loops.nblocks, AS_LOOP_BLOCKS_MOST);
	EXPECT_U64(loops.unlisted, 3);
	as_loops_done(&loops);
}

/* Each look is at the end of 2 ms, and what comes before and after it is shared. */
static uint32_t winner(const uint32_t *stack, size_t n)
{
	struct as_votes v = {0};

	for (size_t i = 0; i < n; i++) {
		v.seen_ns = 0;
		v.looks = 0;
		as_votes_add(&v, (struct as_vote){.stack = stack[i]}, 2 * MS);
	}
	return as_votes_winner(&v, loops.profile).stack;
}

static void t_winner(void)
{
	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t root = call(0, "main", 1), f = call(root, "f", 2), g = call(root, "g", 3);
	uint32_t leaf[] = {call(f, "x", 4), call(f, "y", 5), call(f, "z", 6)};
	const uint32_t one[] = {g}, held[] = {leaf[0], leaf[0], leaf[0], g, leaf[1]};
	const uint32_t apart[] = {leaf[0], leaf[1], leaf[2], g}, tie[] = {f, g};
	const uint32_t deeper[] = {leaf[0], f, f}; /* two of three were in f itself */

	EXPECT_U64(winner(one, 1), g);
	EXPECT_U64(winner(held, 5), leaf[0]);
	EXPECT_U64(winner(apart, 4), f);
	EXPECT_U64(winner(tie, 2), root);
	EXPECT_U64(winner(deeper, 3), f);
	EXPECT_U64(winner(NULL, 0), 0);
	as_loops_done(&loops);
}

/* Two of three looks were in task 5, at different lines of one function. */
static void t_task(void)
{
	struct as_votes v = {0};

	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t root = call(0, "main", 1), f = call(root, "f", 2), g = call(root, "g", 3);
	as_votes_add(&v, (struct as_vote){.stack = g, .task = 4}, MS);
	as_votes_add(&v, (struct as_vote){.stack = call(f, "x", 4), .task = 5}, 2 * MS);
	as_votes_add(&v, (struct as_vote){.stack = call(f, "x", 5), .task = 5}, 4 * MS);
	EXPECT(as_votes_has(&v, g) && !as_votes_has(&v, f));
	struct as_vote w = as_votes_winner(&v, loops.profile);
	EXPECT_U64(w.stack, f);
	EXPECT_U64(w.task, 5);
	as_loops_done(&loops);
}

/* 30 ms of CPU, looked at often, and 40 ms of sleep, looked at seldom. */
static struct as_votes two_holders(uint32_t burns, uint32_t other_line, uint32_t sleeps)
{
	struct as_votes v = {0};

	for (int64_t t = 2; t <= 30; t += 2)
		as_votes_add(&v, (struct as_vote){.stack = t % 4 ? burns : other_line}, t * MS);
	for (int64_t t = 32; t < 70; t += 8)
		as_votes_add(&v,
			     (struct as_vote){.stack = sleeps,
					      .cause = AS_LOOP_CALL,
					      .call = "clock_nanosleep"},
			     t * MS);
	as_votes_end(&v, 70 * MS);
	return v;
}

static void t_the_line_has_its_own_cause(void)
{
	struct as_loop_block b = {.duration_ns = 70 * MS, .cpu_ns = 30 * MS};

	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t root = call(0, "main", 1), burns = call(root, "burn", 2);
	uint32_t other = call(root, "burn", 3), sleeps = call(root, "nap", 9);
	struct as_votes v = two_holders(burns, other, sleeps);
	as_loop_blame(&b, &v, loops.profile);
	EXPECT_U64(b.stack, sleeps);
	EXPECT_U64(b.cause, AS_LOOP_CALL);
	EXPECT_STR(b.call, "clock_nanosleep");
	EXPECT_U64(b.nholders, 2); /* two lines of one function are one */
	EXPECT_I64(b.holder[0].ns / MS, 39);
	EXPECT_U64(b.holder[1].cause, AS_LOOP_CPU);
	EXPECT(b.holder[1].stack == burns || b.holder[1].stack == other);
	EXPECT_I64(b.holder[1].ns / MS, 31);
	as_loops_done(&loops);
}

/* Who is on one stack all along is told by the counts, whatever single looks have met. */
static void t_one_holder(void)
{
	struct as_loop_block b = {.duration_ns = 20 * MS, .cause = AS_LOOP_CPU, .cpu_ns = 19 * MS};
	struct as_votes v = {0};

	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t f = call(0, "f", 1);
	as_votes_add(&v, (struct as_vote){.stack = f, .cause = AS_LOOP_CALL, .call = "read"},
		     9 * MS);
	as_votes_end(&v, 20 * MS);
	as_loop_blame(&b, &v, loops.profile);
	EXPECT_U64(b.cause, AS_LOOP_CPU);
	EXPECT_U64(b.nholders, 1);
	EXPECT_I64(b.holder[0].ns, 20 * MS);
	EXPECT_U64(b.holder[0].cause, AS_LOOP_CPU);
	as_loops_done(&loops);
}

/* It was seen running, and not again until the end: the counts know that it slept. */
static void t_a_look_cannot_have_run_for_longer_than_the_counts(void)
{
	struct as_loop_block b = {.duration_ns = 44 * MS,
				  .cause = AS_LOOP_CALL,
				  .call = "clock_nanosleep",
				  .cpu_ns = 2 * MS};
	struct as_votes v = {0};

	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t f = call(0, "f", 1), nap = call(f, "nap", 2), tidy = call(0, "tidy", 3);
	as_votes_add(&v, (struct as_vote){.stack = nap}, 2 * MS);
	as_votes_add(&v, (struct as_vote){.stack = tidy}, 43 * MS);
	as_votes_end(&v, 44 * MS);
	v.at[0].ns = 36 * MS;
	v.at[1].ns = 8 * MS;
	as_loop_blame(&b, &v, loops.profile);
	EXPECT_U64(b.stack, nap);
	EXPECT_U64(b.cause, AS_LOOP_CALL);
	EXPECT_STR(b.call, "clock_nanosleep");
	EXPECT_U64(b.holder[0].cause, AS_LOOP_CALL);
	as_loops_done(&loops);
}

static void t_more_stacks_than_room(void)
{
	struct as_votes v = {0};

	EXPECT_OK(as_loops_init(&loops, &err), err);
	uint32_t root = call(0, "main", 1);
	for (int32_t i = 0; i < AS_VOTES_MOST * 3; i++)
		as_votes_add(&v, (struct as_vote){.stack = call(root, "f", i + 1)}, (i + 1) * MS);
	EXPECT_U64(v.n, AS_VOTES_MOST);
	uint32_t w = as_votes_winner(&v, loops.profile).stack;
	EXPECT(w == 0 || w == root); /* what was not kept votes for nobody */
	as_loops_done(&loops);
}

UTEST_MAIN(T(t_blocks), T(t_workers), T(t_busy_workers), T(t_too_many), T(t_winner), T(t_task),
	   T(t_the_line_has_its_own_cause), T(t_one_holder),
	   T(t_a_look_cannot_have_run_for_longer_than_the_counts), T(t_more_stacks_than_room))
