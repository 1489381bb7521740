/* ledger -- births, execs and deaths become instances, last rows and sums. */
#include "utest.h"

#include "base/clock.h"
#include "collect/ledger.h"
#include "run/builder.h"

/* Numbers that no process has: none of these is ever found in /proc. */
enum { ROOT = 500000000, CHILD, OTHER };

struct book {
	struct as_env env;
	struct as_want want;
	struct as_sink sink;
	struct as_tee tee;
	struct as_builder *builder;
	struct as_collect c;
	struct as_members m;
	struct as_ledger g;
	struct as_frame frame;
	bool starved;
	int64_t ended;
	uint64_t tick;
	int64_t boot_ns; /* CLOCK_BOOTTIME of the run's start */
};

static void book_open(struct book *b)
{
	struct as_err err;

	*b = (struct book){.want = as_want_all()};
	(void)unsetenv("ASSAY_ROOT");
	EXPECT_OK(as_env_open(&b->env, &err), err);
	EXPECT_OK(as_builder_new(&b->builder, &err), err);
	b->sink = as_builder_sink(b->builder);
	b->tee = (struct as_tee){&b->sink, 1};
	b->c = (struct as_collect){.env = &b->env,
				   .want = &b->want,
				   .sink = &b->tee,
				   .start_ns = as_now(),
				   .root = ROOT,
				   .children = true,
				   .starved = &b->starved,
				   .ended = &b->ended};
	b->boot_ns = as_clock(CLOCK_BOOTTIME);
	as_members_init(&b->m, &b->env);
	as_ledger_init(&b->g);
}

static void book_close(struct book *b)
{
	EXPECT(!b->starved);
	EXPECT_I64(b->sink.failed, 0);
	as_members_done(&b->m);
	as_ledger_done(&b->g);
	as_frame_done(&b->frame);
	as_builder_free(b->builder);
	as_env_close(&b->env);
}

/* An event `ms` after the start; births are told with their moment. */
static struct as_life life(struct book *b, enum as_life_kind kind, int32_t pid, int64_t ms)
{
	struct as_life l = {.kind = kind,
			    .pid = pid,
			    .t_ns = b->c.start_ns + ms * AS_MSEC,
			    .start_ns = AS_PROC_NA};
	int64_t v[sizeof l.usage / sizeof(int64_t)];

	for (size_t i = 0; i < AS_LEN(v); i++)
		v[i] = AS_PROC_NA;
	memcpy(&l.usage, v, sizeof v);
	return l;
}

static void told(struct book *b, const struct as_life *l)
{
	as_ledger_told(&b->g, &b->m, &b->c, l, true);
}

static void born(struct book *b, int32_t pid, int32_t parent, int64_t ms)
{
	struct as_life l = life(b, AS_LIFE_BORN, pid, ms);

	l.parent = parent;
	l.start_ns = b->boot_ns + ms * AS_MSEC;
	told(b, &l);
}

static void exec(struct book *b, int32_t pid, const char *comm, const char *args, size_t n)
{
	struct as_life l = life(b, AS_LIFE_EXEC, pid, 0);

	(void)snprintf(l.comm, sizeof l.comm, "%s", comm);
	l.args = args;
	l.args_len = n;
	told(b, &l);
}

static void died(struct book *b, int32_t pid, int64_t ms, int64_t cpu, int32_t status)
{
	struct as_life l = life(b, AS_LIFE_DIED, pid, ms);

	l.usage.cpu_ns = l.usage.user_ns = cpu;
	l.usage.sys_ns = 0;
	l.usage.hwm = 4096;
	l.usage.rchar = 17;
	l.status = status;
	told(b, &l);
}

static void show(struct book *b)
{
	as_frame_start(&b->frame, ++b->tick * AS_SECOND);
	as_ledger_rows(&b->g, &b->c, &b->frame, b->tick, false);
	as_tee_frame(&b->tee, &b->frame);
}

static const struct as_instance *instance(const struct book *b, uint32_t id)
{
	const struct as_instance *i = as_run_instance(as_builder_run(b->builder), AS_PROCESS, id);

	if (!i)
		UTEST_FAIL("no process %u", id);
	return i;
}

static size_t listed(const struct book *b)
{
	return as_builder_run(b->builder)->ninstances;
}

/* A child that no tick saw has a name, a line, a parent, a life, an end and its numbers. */
static void t_unseen(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	exec(&b, ROOT, "make", "make\0all", 9);
	born(&b, CHILD, ROOT, 5);
	died(&b, CHILD, 7, 1500, 0x300);
	show(&b);
	EXPECT_U64(listed(&b), 2);
	const struct as_instance *p = &as_builder_run(b.builder)->instances[0];
	EXPECT_I64(p->key, ROOT); /* parents first */
	const struct as_instance *i = instance(&b, 1);
	EXPECT_I64(i->key, CHILD);
	EXPECT_U64(i->parent, p->id);
	EXPECT_STR(i->name, "make");
	EXPECT_STR(i->detail, "make all");
	EXPECT_NEAR((double)i->born_ns, 5e6, 1e6);
	EXPECT_I64(i->died_ns, 7 * AS_MSEC);
	EXPECT_I64(i->ended_by, 0x300);
	EXPECT_I64(as_row_at(i->last, AS_F_PROC_USER), 1500);
	EXPECT_I64(as_row_at(i->last, AS_F_PROC_HWM), 4096);
	EXPECT_I64(as_row_at(i->last, AS_F_PROC_RCHAR), 17);
	EXPECT_I64(as_row_at(i->last, AS_F_PROC_MAJFLT), AS_NA);
	EXPECT_U64(b.g.births, 2);
	EXPECT_U64(b.g.deaths, 1);
	EXPECT_I64(b.g.sum.cpu_ns, 1500);
	book_close(&b);
}

/* While one takes over from another both tell the same, in any order. */
static void t_told_twice(void)
{
	struct book b;

	book_open(&b);
	b.g.two = true;
	born(&b, ROOT, 1, 0);
	born(&b, ROOT, 1, 1); /* the other one does not look as closely */
	born(&b, CHILD, ROOT, 5);
	died(&b, CHILD, 7, 1500, 0);
	born(&b, CHILD, ROOT, 5);
	died(&b, CHILD, 7, 1500, 0);
	show(&b);
	EXPECT_U64(listed(&b), 2);
	EXPECT_U64(b.m.ever, 2);
	EXPECT_U64(b.m.n, 1);
	EXPECT_U64(b.g.deaths, 1);
	EXPECT_I64(b.g.sum.cpu_ns, 1500);
	book_close(&b);
}

/* The same number again, at once: another process. */
static void t_pid_again(void)
{
	struct book b;

	book_open(&b);
	born(&b, CHILD, 1, 5);
	died(&b, CHILD, 6, 10, 0);
	born(&b, CHILD, 1, 7);
	died(&b, CHILD, 8, 20, 0x100);
	show(&b);
	EXPECT_U64(listed(&b), 2);
	EXPECT_I64(instance(&b, 0)->ended_by, 0);
	EXPECT_I64(instance(&b, 1)->ended_by, 0x100);
	EXPECT_I64(as_row_at(instance(&b, 1)->last, AS_F_PROC_USER), 20);
	EXPECT_I64(b.g.sum.cpu_ns, 30);
	book_close(&b);
}

/* An end that was lost: the next one with its number shows that it is over. */
static void t_end_lost(void)
{
	struct book b;

	book_open(&b);
	born(&b, CHILD, 1, 5);
	born(&b, CHILD, 1, 700);
	EXPECT_U64(listed(&b), 1);
	EXPECT(instance(&b, 0)->died_ns != AS_NA);
	EXPECT_I64(instance(&b, 0)->ended_by, AS_NA);
	EXPECT_U64(b.m.n, 1);
	EXPECT_U64(b.m.ever, 2);
	EXPECT_U64(b.g.unknown, 1);
	book_close(&b);
}

static void t_nobody_known(void)
{
	struct book b;

	book_open(&b);
	died(&b, CHILD, 5, 10, 0);
	exec(&b, CHILD, "x", "x", 1);
	EXPECT_U64(listed(&b), 0);
	EXPECT_U64(b.m.ever, 0);
	born(&b, CHILD, 1, 6); /* its own birth may come after what was not its end */
	EXPECT_U64(b.m.n, 1);
	book_close(&b);
}

/* Another program, the same process; a line that nobody could read is unknown. */
static void t_exec(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	exec(&b, ROOT, "sh", "sh\0-c\0x", 8);
	exec(&b, ROOT, "cc1", "cc1\0file.c", 11);
	born(&b, CHILD, ROOT, 1);
	exec(&b, CHILD, "", NULL, 0);
	struct as_life l = life(&b, AS_LIFE_DIED, CHILD, 2);
	(void)snprintf(l.comm, sizeof l.comm, "as");
	told(&b, &l);
	died(&b, ROOT, 3, 1, 0);
	EXPECT_U64(listed(&b), 2);
	EXPECT_STR(instance(&b, 0)->name, "cc1");
	EXPECT_STR(instance(&b, 0)->detail, "cc1 file.c");
	EXPECT_STR(instance(&b, 1)->name, "as");
	EXPECT_STR(instance(&b, 1)->detail, NULL);
	EXPECT_U64(b.g.unknown, 1);
	book_close(&b);
}

/* The name that it had before its exec was its parent's; seen with it or not, it is not its own. */
static void t_name_before_exec(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	exec(&b, ROOT, "sh", "sh", 2);
	born(&b, CHILD, ROOT, 1);
	exec(&b, CHILD, "", NULL, 0);
	died(&b, CHILD, 2, 1, 0);
	born(&b, CHILD + 1, ROOT, 3); /* it stays what it was */
	died(&b, CHILD + 1, 4, 1, 0);
	died(&b, ROOT, 5, 1, 0);
	EXPECT_U64(listed(&b), 3);
	EXPECT_STR(instance(&b, 0)->name, "sh");
	EXPECT_STR(instance(&b, 1)->name, NULL);
	EXPECT_STR(instance(&b, 2)->name, "sh");
	book_close(&b);
}

/* Later somebody knows better: the row is shown again, the sum grows by the difference. */
static void t_settled(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	born(&b, CHILD, ROOT, 5);
	died(&b, CHILD, 7, 1500, 0);
	EXPECT_I64(b.ended, 0);
	died(&b, ROOT, 8, 100, 0);
	EXPECT_I64(b.ended, 8 * AS_MSEC);
	show(&b);
	struct as_life l = life(&b, AS_LIFE_SETTLED, CHILD, 9);
	l.start_ns = b.boot_ns + 5 * AS_MSEC;
	l.usage.cpu_ns = l.usage.user_ns = 1600;
	l.usage.sys_ns = 0;
	told(&b, &l);
	show(&b);
	EXPECT_I64(b.g.sum.cpu_ns, 1700);
	show(&b);
	show(&b);
	EXPECT_U64(b.g.ndeparted, 0); /* what was shown is not kept for ever */
	as_auto_run struct as_run *run = as_builder_take(as_take(b.builder));
	const int64_t *last = as_run_instance(run, AS_PROCESS, 1)->last;
	EXPECT_I64(as_row_at(last, AS_F_PROC_USER), 1600);
	EXPECT_I64(as_row_at(last, AS_F_PROC_HWM), 4096);
	book_close(&b);
}

/* Ticks split user from system time anew at every look: the sum is the CPU time all the same. */
static void t_split_anew(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	died(&b, ROOT, 8, 1500, 0);
	struct as_life l = life(&b, AS_LIFE_SETTLED, ROOT, 9);
	l.start_ns = b.boot_ns;
	l.usage.cpu_ns = 1600;
	l.usage.user_ns = 1400;
	l.usage.sys_ns = 200;
	told(&b, &l);
	show(&b);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_USER), 1500);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_SYSTEM), 100);
	EXPECT_I64(b.g.sum.user_ns + b.g.sum.sys_ns, b.g.sum.cpu_ns);
	book_close(&b);
}

/* Waiting for it told to the microsecond what /proc had in ticks, after its end was told. */
static void t_reaped(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	struct as_process *p = as_members_find(&b.m, ROOT);
	p->stat.pid = ROOT; /* a sample read it */
	p->stat.utime = 10 * AS_MSEC;
	struct as_life l = life(&b, AS_LIFE_DIED, ROOT, 8);
	l.start_ns = b.boot_ns;
	l.usage.cpu_ns = AS_PROC_NA;
	told(&b, &l);
	EXPECT_I64(b.g.sum.cpu_ns, 10 * AS_MSEC);
	p->stat.utime = 13 * AS_MSEC;
	as_ledger_reaped(&b.g, p);
	as_ledger_reaped(&b.g, p); /* no news */
	show(&b);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_USER), 13 * AS_MSEC);
	EXPECT_I64(b.g.sum.cpu_ns, 13 * AS_MSEC);
	book_close(&b);
}

/* By more ticks the same time is split otherwise: neither part may go back for that. */
static void t_split_goes_on(void)
{
	struct as_proc_stat u = {0};

	as_process_split(&u, 9, 0, 0);
	EXPECT_I64(u.utime, 9);
	as_process_split(&u, 12, 0, 1);
	EXPECT_I64(u.utime, 9);
	EXPECT_I64(u.stime, 3);
	as_process_split(&u, 40, 1, 1);
	EXPECT_I64(u.utime, 20);
	EXPECT_I64(u.stime, 20);
	as_process_split(&u, 39, 1, 0); /* rounded otherwise */
	EXPECT_I64(u.utime, 20);
	EXPECT_I64(u.stime, 20);
}

/* Taskstats know what was used until the last tick; before the first one that is unknown. */
static void t_shorter_than_a_tick(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	died(&b, ROOT, 8, 0, 0);
	show(&b);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_USER), AS_NA);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_HWM), 4096);
	book_close(&b);
}

/* A sample saw no calls yet, and its end told of less than a step of 1024: unknown, not none. */
static void t_less_than_a_step(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	struct as_process *p = as_members_find(&b.m, ROOT);
	p->stat.pid = ROOT; /* a sample read it */
	p->own.io = (struct as_proc_io){.syscr = 9};
	struct as_life l = life(&b, AS_LIFE_DIED, ROOT, 8);
	l.usage.cpu_ns = l.usage.user_ns = 1500;
	l.usage.syscr = l.usage.syscw = AS_PROC_NA;
	told(&b, &l);
	show(&b);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_SYSCR), 9);
	EXPECT_I64(as_row_at(instance(&b, 0)->last, AS_F_PROC_SYSCW), AS_NA);
	book_close(&b);
}

/* While one source takes over from another, what the old one tells is named to the new one. */
static void t_two_sources(void)
{
	struct book b;

	book_open(&b);
	born(&b, ROOT, 1, 0);
	EXPECT(as_members_find(&b.m, ROOT)->named);
	b.g.two = true;
	born(&b, CHILD, ROOT, 5);
	EXPECT(!as_members_find(&b.m, CHILD)->named);
	born(&b, CHILD, ROOT, 5); /* by the other one */
	EXPECT(!as_members_find(&b.m, CHILD)->named);
	book_close(&b);
}

/* Files that nobody may count are not none. */
static void t_hidden_files(void)
{
	struct book b;

	book_open(&b);
	struct as_process *p = as_members_born(&b.m, &b.c, CHILD);
	struct as_process *q = as_members_born(&b.m, &b.c, OTHER);
	p->stat = (struct as_proc_stat){.pid = CHILD, .state = 'S'};
	q->stat = (struct as_proc_stat){.pid = OTHER, .state = 'S'};
	p->fds = 4;
	p->changed = q->changed = true;
	(void)as_sums_update(&b.m.sums, p, &b.c);
	(void)as_sums_update(&b.m.sums, q, &b.c);
	EXPECT_I64(b.m.sums.of.fds, 4);
	EXPECT_I64(b.m.sums.of.fds_hidden, 1);
	q->fds = 3;
	(void)as_sums_update(&b.m.sums, q, &b.c);
	EXPECT_I64(b.m.sums.of.fds, 7);
	EXPECT_I64(b.m.sums.of.fds_hidden, 0);
	book_close(&b);
}

UTEST_MAIN(T(t_unseen), T(t_told_twice), T(t_pid_again), T(t_end_lost), T(t_nobody_known),
	   T(t_exec), T(t_name_before_exec), T(t_settled), T(t_split_anew), T(t_reaped),
	   T(t_split_goes_on), T(t_shorter_than_a_tick), T(t_less_than_a_step), T(t_two_sources),
	   T(t_hidden_files))
