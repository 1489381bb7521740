/* own -- a process's I/O without that of the children it waited for. */
#include "utest.h"

#include "collect/process.h"

/* One that a pass tells of again and again: what the kernel has of it. */
struct story {
	struct as_process p;
	struct as_wire_usage ended;
	int64_t living; /* bytes that its living threads wrote */
};

static void begin(struct story *s, bool midway)
{
	struct as_proc_pool pool = {0};

	*s = (struct story){0};
	as_process_init(&s->p, &pool, 7);
	s->p.midway = midway;
	s->p.io = s->p.io_base = (struct as_proc_io){0};
}

static void wrote(struct story *s, int64_t bytes)
{
	s->living += bytes;
}

static void thread_ends(struct story *s, int64_t bytes)
{
	s->living -= bytes;
	s->ended.wchar += (uint64_t)bytes;
	s->ended.cpu += 1000;
}

static void child_is_waited_for(struct story *s, int64_t bytes)
{
	s->ended.wchar += (uint64_t)bytes;
	s->p.stat.cutime += 1000;
	s->p.stat.cminflt++;
}

static int64_t look(struct story *s)
{
	s->p.io.wchar = s->living + (int64_t)s->ended.wchar;
	as_own_told(&s->p, &s->ended, true);
	return s->p.own.io.wchar;
}

static void t_children(void)
{
	struct story s;

	begin(&s, false);
	wrote(&s, 100);
	EXPECT_I64(look(&s), 100);
	child_is_waited_for(&s, 5000);
	wrote(&s, 10);
	EXPECT_I64(look(&s), 110);
	child_is_waited_for(&s, 0); /* one that wrote nothing */
	EXPECT_I64(look(&s), 110);
}

static void t_threads(void)
{
	struct story s;

	begin(&s, false);
	wrote(&s, 100);
	thread_ends(&s, 60);
	EXPECT_I64(look(&s), 100);
	child_is_waited_for(&s, 5000);
	EXPECT_I64(look(&s), 100);
	thread_ends(&s, 20);
	wrote(&s, 1);
	EXPECT_I64(look(&s), 101);
}

/* Both between two looks: nobody knows, from then on. */
static void t_both(void)
{
	struct story s;

	begin(&s, false);
	wrote(&s, 100);
	EXPECT_I64(look(&s), 100);
	thread_ends(&s, 60);
	child_is_waited_for(&s, 5000);
	EXPECT_I64(look(&s), AS_PROC_NA);
	wrote(&s, 1);
	EXPECT_I64(look(&s), AS_PROC_NA);
}

/* Both, but there was nothing to be added. */
static void t_both_silent(void)
{
	struct story s;

	begin(&s, false);
	wrote(&s, 100);
	thread_ends(&s, 0);
	child_is_waited_for(&s, 0);
	EXPECT_I64(look(&s), 100);
}

/* The bytes are there a moment before the end is: not its own until it is known whose. */
static void t_torn(void)
{
	struct story s;

	begin(&s, false);
	wrote(&s, 100);
	EXPECT_I64(look(&s), 100);
	s.ended.wchar += 60;
	s.living -= 60;
	EXPECT_I64(look(&s), 100); /* counters never go back */
	s.ended.cpu += 1000;
	wrote(&s, 5);
	EXPECT_I64(look(&s), 105);
}

/* It was there before the run, with threads and children of its own that ended by then. */
static void t_midway(void)
{
	struct story s;

	begin(&s, true);
	wrote(&s, 900);
	thread_ends(&s, 400);
	child_is_waited_for(&s, 5000);
	s.p.io_base.wchar = 5900;
	s.p.base = (struct as_proc_base){.minflt = s.p.stat.minflt,
					 .cminflt = s.p.stat.cminflt,
					 .majflt = s.p.stat.majflt,
					 .cmajflt = s.p.stat.cmajflt};
	EXPECT_I64(look(&s), 0);
	wrote(&s, 10);
	child_is_waited_for(&s, 5000);
	EXPECT_I64(look(&s), 10);
	thread_ends(&s, 500);
	EXPECT_I64(look(&s), 10);
}

static bool silent(const struct story *a, const struct story *b)
{
	return a->living == b->living && !memcmp(&a->ended, &b->ended, sizeof a->ended);
}

/* One step of a life, and whether there was any. */
static bool step(struct story *s, uint32_t what)
{
	struct story was = *s;

	if (what % 8 == 1)
		wrote(s, what % 100);
	else if (what % 8 == 2)
		thread_ends(s, s->living / 2);
	else if (what % 8 == 3)
		child_is_waited_for(s, what % 1000);
	else if (what % 8 == 4)
		s->ended.wchar += what % 3; /* a torn look */
	return !silent(&was, s);
}

/* Whoever is told only of what is new comes to the same as who is told each time. */
static void t_only_news(void)
{
	uint32_t random = 1;

	for (int life = 0; life < 200; life++) {
		struct story a, b;

		begin(&a, life % 2);
		begin(&b, life % 2);
		for (int i = 0; i < 50; i++) {
			random = random * 1664525 + 1013904223;
			bool news = step(&a, random >> 16);

			EXPECT(step(&b, random >> 16) == news);
			b.p.io.wchar = b.living + (int64_t)b.ended.wchar;
			as_own_told(&b.p, &b.ended, news);
			EXPECT_I64(b.p.own.io.wchar, look(&a));
		}
	}
}

UTEST_MAIN(T(t_children), T(t_threads), T(t_both), T(t_both_silent), T(t_torn), T(t_midway),
	   T(t_only_news))
