/* loopthread -- what looks at a thread make of it, told by files that say what /proc would. */
#include "utest.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "stack/loopexact.h"
#include "stack/loopthread.h"

#define MS INT64_C(1000000)

enum { STEP_MS = 2 };

static char dir[] = "/tmp/assay-loopthread-XXXXXX";
static struct as_env env;
static struct as_loops loops;
static struct as_loop_thread thread;
static struct as_err err;

static void put(const char *file, const char *text)
{
	char path[128];
	(void)snprintf(path, sizeof path, "%s/7/task/7/%s", dir, file);
	FILE *f = fopen(path, "w");

	EXPECT(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void call(const char *name, int64_t nr)
{
	char text[80] = "running\n";

	if (nr >= 0)
		(void)snprintf(text, sizeof text, "%d 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n", (int)nr);
	put(name, text);
}

static void counters(int64_t run_ms, int64_t wait_ms, int64_t slices, int64_t yields)
{
	char text[128];

	(void)snprintf(text, sizeof text, "%lld %lld %lld\n", (long long)(run_ms * MS),
		       (long long)(wait_ms * MS), (long long)slices);
	put("schedstat", text);
	(void)snprintf(text, sizeof text, "Name:\tx\nvoluntary_ctxt_switches:\t%lld\n",
		       (long long)yields);
	put("status", text);
}

static void look(int64_t at_ms)
{
	struct as_call c;
	struct as_loop_look l = {&env, 7, &loops, at_ms * MS, STEP_MS * MS};

	EXPECT(as_loop_thread_look(&thread, &l, &c));
}

static void finish(int64_t at_ms)
{
	as_loop_thread_finish(&thread,
			      &(struct as_loop_look){&env, 7, &loops, at_ms * MS, STEP_MS * MS});
}

static void set_up(void)
{
	char path[128];

	EXPECT(mkdtemp(dir));
	for (const char *const *sub = (const char *const[]){"7", "7/task", "7/task/7", NULL}; *sub;
	     sub++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, *sub);
		EXPECT(mkdir(path, 0700) == 0);
	}
	env.proc = open(dir, O_PATH | O_DIRECTORY);
	call("syscall", SYS_epoll_pwait);
	put("comm", "worker\n");
	counters(100, 10, 50, 40);
	EXPECT_OK(as_loops_init(&loops, &err), err);
	loops.threshold_ns = 5 * MS;
	EXPECT(as_loop_thread_open(&thread, &env, 7, 7));
	look(1000);
}

static void tear_down(void)
{
	static const char *const names[] = {"7/task/7/syscall",
					    "7/task/7/schedstat",
					    "7/task/7/status",
					    "7/task/7/comm",
					    "7/task/7",
					    "7/task",
					    "7",
					    ""};
	char path[128];

	as_loop_thread_close(&thread);
	as_loops_done(&loops);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		EXPECT(remove(path) == 0);
	}
}

/*
 * Waits at 1000, runs from 1002 to 1010, waits at 1012: 10 ms, give or take a look. It
 * gave up its CPU only to wait again, so it was busy for just as long as it ran.
 */
static void t_computes(void)
{
	set_up();
	EXPECT_STR(thread.to->name, "worker");
	EXPECT_STR(thread.to->wait, "epoll_pwait");
	call("syscall", -1);
	counters(100, 10, 51, 40);
	for (int64_t t = 1002; t <= 1010; t += 2)
		look(t);
	call("syscall", SYS_epoll_pwait);
	counters(109, 10, 51, 41);
	look(1012);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].start_ns, 1002 * MS);
	EXPECT_I64(loops.block[0].duration_ns, 9 * MS);
	EXPECT_I64(loops.block[0].cpu_ns, 9 * MS);
	EXPECT_U64(loops.block[0].cause, AS_LOOP_CPU);
	EXPECT(!loops.block[0].call && !loops.block[0].ongoing);
	tear_down();
}

/* A library waits for its socket: the loop is on epoll, so poll holds it. */
static void t_poll_holds_a_loop_on_epoll(void)
{
	set_up();
	call("syscall", SYS_ppoll);
	counters(100, 10, 51, 41);
	for (int64_t t = 1002; t <= 1030; t += 2)
		look(t);
	call("syscall", SYS_epoll_pwait);
	counters(101, 10, 52, 42);
	look(1032);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_U64(loops.block[0].cause, AS_LOOP_CALL);
	EXPECT_STR(loops.block[0].call, "ppoll");
	tear_down();
}

/* Between two looks that found it running it has given up its CPU: it waited for events. */
static void t_a_wait_that_was_not_seen(void)
{
	set_up();
	call("syscall", -1);
	for (int64_t t = 1002, i = 1; t <= 1020; t += 2, i++) {
		counters(100 + i, 10, 50 + i, 40 + i);
		look(t);
	}
	EXPECT_U64(loops.nblocks, 0);
	/* pushed off its CPU is something else */
	for (int64_t t = 1022, i = 11; t <= 1030; t += 2, i++) {
		counters(100 + i, 10, 50 + i, 50);
		look(t);
	}
	call("syscall", SYS_epoll_pwait);
	look(1032);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].duration_ns, 12 * MS);
	tear_down();
}

/* Starved: it was ready all the time, and others had the CPUs. */
static void t_ready(void)
{
	set_up();
	call("syscall", -1);
	counters(100, 10, 51, 40);
	look(1002);
	look(1004);
	counters(102, 18, 52, 40);
	look(1006);
	look(1008);
	call("syscall", SYS_epoll_pwait);
	look(1010);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_U64(loops.block[0].cause, AS_LOOP_READY);
	tear_down();
}

/* We were late, not the loop: a beginning is never put further back than a step. */
static void t_late(void)
{
	set_up();
	call("syscall", -1);
	counters(100, 10, 51, 40);
	look(1100);
	look(1102);
	call("syscall", SYS_epoll_pwait);
	look(1104);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].duration_ns, 5 * MS);
	tear_down();
}

/* Its clock says more than fits between the looks: then the looks count. */
static void t_clocks_that_disagree(void)
{
	set_up();
	call("syscall", -1);
	counters(100, 10, 51, 40);
	for (int64_t t = 1002; t <= 1010; t += 2)
		look(t);
	call("syscall", SYS_epoll_pwait);
	counters(113, 10, 51, 41);
	look(1012);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].start_ns, 1001 * MS);
	EXPECT_I64(loops.block[0].duration_ns, 10 * MS);
	EXPECT_I64(loops.block[0].cpu_ns, 10 * MS);
	tear_down();
}

/* The last look finds it awake again, just before it waits: it slept all the same. */
static void t_woken_before_the_last_look(void)
{
	set_up();
	call("syscall", SYS_clock_nanosleep);
	counters(100, 10, 51, 41);
	for (int64_t t = 1002; t <= 1020; t += 2)
		look(t);
	call("syscall", -1);
	counters(100, 10, 52, 41);
	look(1022);
	call("syscall", SYS_epoll_pwait);
	counters(101, 10, 52, 42);
	look(1024);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].duration_ns, 22 * MS);
	EXPECT_STR(loops.block[0].call, "clock_nanosleep");
	tear_down();
}

static void t_ends_in_a_block(void)
{
	set_up();
	call("syscall", SYS_futex);
	look(1002);
	look(1010);
	finish(1011);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT(loops.block[0].ongoing);
	EXPECT_U64(loops.block[0].cause, AS_LOOP_LOCK);
	tear_down();
}

/* 20 periods that no look caught used 4 ms of CPU time. */
static void t_short_periods_in_sum(void)
{
	set_up();
	counters(104, 10, 70, 60);
	look(1002);
	finish(1200);
	EXPECT_U64(thread.to->busy.n, 20);
	EXPECT_I64(thread.to->busy.max, MS / 5);
	EXPECT_I64(thread.to->busy_ns, 4 * MS);
	tear_down();
}

/* On a CPU once between two looks that found it waiting: what it used is the period. */
static void t_no_look_met_it(void)
{
	set_up();
	counters(107, 12, 51, 41);
	look(1010);
	EXPECT_U64(loops.nblocks, 1);
	EXPECT_I64(loops.block[0].duration_ns, 9 * MS);
	EXPECT_I64(loops.block[0].cpu_ns, 7 * MS);
	counters(117, 12, 53, 43); /* on a CPU twice: how much of it was in one go? */
	look(1024);
	EXPECT_U64(loops.nblocks, 1);
	tear_down();
}

static void t_poll_alone_is_a_loop(void)
{
	set_up();
	as_loop_thread_close(&thread);
	EXPECT(as_loop_thread_open(&thread, &env, 7, 7));
	call("syscall", SYS_read);
	look(1000);
	EXPECT(!thread.to);
	call("syscall", SYS_ppoll);
	look(1002);
	EXPECT(thread.to && thread.state == AS_LOOP_WAITS);
	tear_down();
}

/* The kernel may have two places for it, of which one has nothing: that takes nothing away. */
static void t_an_empty_place_beside_its_own(void)
{
	static struct as_wire_loop own = {.tid = 7, .busy = 300 * MS, .over = 10, .max = 30 * MS};
	static const struct as_wire_loop empty = {.tid = 7};

	own.bucket[as_bucket_of(30 * MS, AS_WIRE_LOOP_BITS)] = 10;
	for (int first = 0; first < 2; first++) {
		EXPECT_OK(as_loops_init(&loops, &err), err);
		struct as_loop *x = as_loops_of(&loops, 7);

		as_loop_exact_add(x, first ? &own : &empty, 400 * MS);
		as_loop_exact_add(x, first ? &empty : &own, 390 * MS);
		EXPECT_U64(x->busy.n, 10);
		EXPECT_U64(x->over, 10);
		EXPECT_I64(x->busy_ns, 300 * MS);
		EXPECT_I64(x->watched_ns, 400 * MS);
		EXPECT_I64(as_histogram_at(&x->busy, 0.99), 30 * MS);
		as_loops_done(&loops);
	}
}

UTEST_MAIN(T(t_an_empty_place_beside_its_own), T(t_computes), T(t_poll_holds_a_loop_on_epoll),
	   T(t_a_wait_that_was_not_seen), T(t_ready), T(t_late), T(t_clocks_that_disagree),
	   T(t_woken_before_the_last_look), T(t_ends_in_a_block), T(t_short_periods_in_sum),
	   T(t_no_look_met_it), T(t_poll_alone_is_a_loop))
