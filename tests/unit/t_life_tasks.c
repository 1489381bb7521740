/* life_tasks -- threads told one by one make processes. */
#include "utest.h"

#include "os/life_tasks.h"
#include "os/proc.h"

enum { US = 5, TOLD_MAX = 64 };

struct table {
	struct as_life_tasks *t;
	struct as_life_ear ear;
	struct as_life told[TOLD_MAX];
	char args[TOLD_MAX][32];
	size_t n;
	size_t threaded; /* times that one was told to have a second thread */
	bool alive;      /* what a look at any process finds */
	int64_t now;
};

static void tell(void *data, const struct as_life *life)
{
	struct table *x = data;

	if (life->kind == AS_LIFE_THREADED) {
		x->threaded++;
		return;
	}
	EXPECT(x->n < TOLD_MAX);
	x->told[x->n] = *life;
	(void)snprintf(x->args[x->n], sizeof x->args[0], "%.*s", (int)life->args_len,
		       life->args ? life->args : "");
	x->n++;
}

static bool look_alive(void *data, int32_t pid)
{
	(void)pid;
	return ((struct table *)data)->alive;
}

static size_t look_args(void *data, int32_t pid, char *text, size_t size)
{
	(void)data;
	return (size_t)snprintf(text, size, "args %d", pid);
}

static void look_comm(void *data, int32_t pid, char comm[16])
{
	(void)data;
	(void)snprintf(comm, 16, "comm %d", pid);
}

static void table_open(struct table *x)
{
	struct as_err err;

	*x = (struct table){.ear = {.fn = tell, .boot_ns = 1000}};
	x->ear.data = x->ear.look.data = x;
	x->ear.look.alive = look_alive;
	x->ear.look.args = look_args;
	EXPECT_OK(as_life_tasks_new(&x->t, &err), err);
	EXPECT_OK(as_life_tasks_parent(x->t, US, &err), err);
}

static void event(struct table *x, enum as_cn_what what, int32_t tid, int32_t pid, int32_t other)
{
	struct as_cn e = {.what = what, .tid = tid, .pid = pid, .t_ns = ++x->now};

	e.parent = what == AS_CN_FORK ? other : 0;
	e.code = what == AS_CN_EXIT ? other : 0;
	as_life_tasks_event(x->t, &e, &x->ear);
}

static void born(struct table *x, int32_t pid, int32_t parent)
{
	event(x, AS_CN_FORK, pid, pid, parent);
}

static bool stats(struct table *x, int32_t tid, int64_t cpu)
{
	struct as_task_stats s = {.tid = tid,
				  .comm = "name",
				  .cpu_ns = cpu,
				  .user_us = 3,
				  .sys_us = 1,
				  .rchar = 10,
				  .hwm = cpu};

	return as_life_tasks_stats(x->t, &s);
}

static void bury(struct table *x)
{
	as_life_tasks_bury(x->t, as_life_tasks_dying(x->t), true, &x->ear);
}

/* The next thing that was told. */
static const struct as_life *next(struct table *x, enum as_life_kind kind, int32_t pid)
{
	EXPECT(x->n > 0);
	x->n--;
	if (x->told[0].kind != kind || x->told[0].pid != pid)
		UTEST_FAIL("told %d of %d, want %d of %d", x->told[0].kind, x->told[0].pid, kind,
			   pid);
	static struct as_life life;
	life = x->told[0];
	memmove(x->told, x->told + 1, x->n * sizeof *x->told);
	return &life;
}

static void t_one_life(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	event(&x, AS_CN_EXEC, 10, 10, 0);
	as_life_tasks_execs(x.t, &x.ear);
	EXPECT_STR(x.args[1], "args 10");
	EXPECT(stats(&x, 10, 400));
	event(&x, AS_CN_EXIT, 10, 10, 0x700);
	bury(&x);
	const struct as_life *b = next(&x, AS_LIFE_BORN, 10);
	EXPECT_I64(b->parent, US);
	EXPECT_I64(b->start_ns, 1001);
	EXPECT_I64(b->usage.cpu_ns, AS_PROC_NA);
	(void)next(&x, AS_LIFE_EXEC, 10);
	const struct as_life *d = next(&x, AS_LIFE_DIED, 10);
	EXPECT_I64(d->status, 0x700);
	EXPECT_I64(d->t_ns, 3);
	EXPECT_I64(d->start_ns, 1001);
	EXPECT_STR(d->comm, "name");
	EXPECT_I64(d->usage.cpu_ns, 400);
	EXPECT_I64(d->usage.user_ns, 300);
	EXPECT_I64(d->usage.sys_ns, 100);
	EXPECT_I64(d->usage.threads, 1);
	EXPECT_U64(x.n, 0);
	as_life_tasks_free(x.t);
}

/* Its parent knows before the connector tells; how long it lived is known better. */
static void t_lived(void)
{
	enum { BIRTH = 100, TOLD = 900 };
	static const struct {
		int64_t lived, end;
	} cases[] = {{0, TOLD}, {500, BIRTH + 500}, {5000, TOLD}, {AS_STATS_MOST, TOLD}};
	struct table x;

	table_open(&x);
	for (size_t i = 0; i < AS_LEN(cases); i++) {
		struct as_task_stats s = {.tid = 10, .lived_ns = cases[i].lived};

		x.now = BIRTH - 1;
		born(&x, 10, US);
		EXPECT(as_life_tasks_stats(x.t, &s));
		x.now = TOLD - 1;
		event(&x, AS_CN_EXIT, 10, 10, 0);
		bury(&x);
		(void)next(&x, AS_LIFE_BORN, 10);
		EXPECT_I64(next(&x, AS_LIFE_DIED, 10)->t_ns, cases[i].end);
	}
	as_life_tasks_free(x.t);
}

static void t_strangers(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, 1);
	event(&x, AS_CN_FORK, 11, 10, 1);
	event(&x, AS_CN_EXEC, 10, 10, 0);
	EXPECT(!stats(&x, 10, 1));
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	EXPECT_U64(x.n, 0);
	as_life_tasks_free(x.t);
}

/* A grandchild belongs whoever its parent is by then. */
static void t_descendants(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	born(&x, 11, 10);
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	born(&x, 12, 11);
	(void)next(&x, AS_LIFE_BORN, 10);
	(void)next(&x, AS_LIFE_BORN, 11);
	(void)next(&x, AS_LIFE_DIED, 10);
	EXPECT_I64(next(&x, AS_LIFE_BORN, 12)->parent, 11);
	as_life_tasks_free(x.t);
}

/* Without stats the last name is asked for while nobody has waited; a living one is another. */
static void t_last_name(void)
{
	struct table x;

	table_open(&x);
	x.ear.look.comm = look_comm;
	for (int32_t pid = 10; pid < 12; pid++) {
		x.alive = pid == 11;
		born(&x, pid, US);
		event(&x, AS_CN_EXEC, pid, pid, 0);
		event(&x, AS_CN_EXIT, pid, pid, 0);
		as_life_tasks_execs(x.t, &x.ear);
		as_life_tasks_bury(x.t, 1, false, &x.ear);
		(void)next(&x, AS_LIFE_BORN, pid);
		EXPECT_STR(next(&x, AS_LIFE_EXEC, pid)->comm, "");
		EXPECT_STR(next(&x, AS_LIFE_DIED, pid)->comm, pid == 10 ? "comm 10" : "");
	}
	as_life_tasks_free(x.t);
}

/* A child has the command line of its parent: that is told before it. */
static void t_exec_then_child(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	event(&x, AS_CN_EXEC, 10, 10, 0);
	born(&x, 11, 10);
	as_life_tasks_execs(x.t, &x.ear);
	(void)next(&x, AS_LIFE_BORN, 10);
	(void)next(&x, AS_LIFE_EXEC, 10);
	(void)next(&x, AS_LIFE_BORN, 11);
	EXPECT_U64(x.n, 0);
	as_life_tasks_free(x.t);
}

/* The first thread ends first: the process ends with the last one, by its status. */
static void t_leader_first(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	event(&x, AS_CN_FORK, 11, 10, US);
	EXPECT(stats(&x, 10, 100));
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	(void)next(&x, AS_LIFE_BORN, 10);
	EXPECT_U64(x.n, 0);
	EXPECT(stats(&x, 11, 30));
	event(&x, AS_CN_EXIT, 11, 10, 0x200);
	bury(&x);
	const struct as_life *d = next(&x, AS_LIFE_DIED, 10);
	EXPECT_I64(d->status, 0x200);
	EXPECT_I64(d->usage.cpu_ns, 130);
	EXPECT_I64(d->usage.rchar, 20);
	EXPECT_I64(d->usage.hwm, 100);
	EXPECT_I64(d->usage.threads, 2);
	as_life_tasks_free(x.t);
}

/* Thread 12 of three execs: all others end, and it is 10 from then on. */
static void thread_execs(bool late)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	event(&x, AS_CN_FORK, 11, 10, US);
	event(&x, AS_CN_FORK, 12, 10, US);
	EXPECT_U64(x.threaded, 1);
	EXPECT(stats(&x, 11, 1) && stats(&x, 10, 2));
	if (!late) {
		event(&x, AS_CN_EXIT, 11, 10, 9);
		event(&x, AS_CN_EXIT, 10, 10, 9);
	}
	event(&x, AS_CN_EXEC, 10, 10, 0);
	as_life_tasks_execs(x.t, &x.ear);
	x.alive = true;
	if (late) {
		event(&x, AS_CN_EXIT, 11, 10, 9);
		event(&x, AS_CN_EXIT, 10, 10, 9);
	}
	bury(&x);
	(void)next(&x, AS_LIFE_BORN, 10);
	(void)next(&x, AS_LIFE_EXEC, 10);
	EXPECT_U64(x.n, 0);
	event(&x, AS_CN_FORK, 13, 10, US);
	EXPECT(stats(&x, 10, 4) && stats(&x, 13, 8));
	event(&x, AS_CN_EXIT, 13, 10, 0);
	x.alive = false;
	event(&x, AS_CN_EXIT, 10, 10, 0x100);
	bury(&x);
	const struct as_life *d = next(&x, AS_LIFE_DIED, 10);
	EXPECT_I64(d->status, 0x100);
	EXPECT_I64(d->usage.cpu_ns, 15);
	as_life_tasks_free(x.t);
}

static void t_thread_execs(void)
{
	thread_execs(false);
	thread_execs(true);
}

/* The first thread execs, and the ends of the others come after that. */
static void t_leader_execs(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	event(&x, AS_CN_FORK, 11, 10, US);
	event(&x, AS_CN_EXEC, 10, 10, 0);
	EXPECT(stats(&x, 11, 1));
	event(&x, AS_CN_EXIT, 11, 10, 9);
	bury(&x);
	EXPECT(stats(&x, 10, 2));
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	(void)next(&x, AS_LIFE_BORN, 10);
	EXPECT_I64(next(&x, AS_LIFE_DIED, 10)->usage.cpu_ns, 3);
	as_life_tasks_free(x.t);
}

static void t_pid_again(void)
{
	struct table x;

	table_open(&x);
	for (int i = 0; i < 3; i++) {
		born(&x, 10, US);
		EXPECT(stats(&x, 10, 100 + i));
		event(&x, AS_CN_EXIT, 10, 10, 0);
	}
	born(&x, 10, 1); /* a stranger has the number now */
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	for (int i = 0; i < 3; i++) {
		EXPECT_I64(next(&x, AS_LIFE_BORN, 10)->start_ns, 1001 + 2 * i);
		const struct as_life *d = next(&x, AS_LIFE_DIED, 10);
		EXPECT_I64(d->start_ns, 1001 + 2 * i);
		EXPECT_I64(d->usage.cpu_ns, 100 + i);
	}
	EXPECT_U64(x.n, 0);
	as_life_tasks_free(x.t);
}

/* An end without a birth, and one of which the stats were lost. */
static void t_half_told(void)
{
	struct table x;

	table_open(&x);
	event(&x, AS_CN_EXIT, 9, 9, 0);
	born(&x, 10, US);
	event(&x, AS_CN_FORK, 11, 10, US);
	EXPECT(stats(&x, 11, 1));
	event(&x, AS_CN_EXIT, 11, 10, 0);
	event(&x, AS_CN_EXIT, 10, 10, 0);
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	(void)next(&x, AS_LIFE_BORN, 10);
	const struct as_life *d = next(&x, AS_LIFE_DIED, 10);
	EXPECT_I64(d->usage.cpu_ns, AS_PROC_NA);
	EXPECT_I64(d->usage.threads, 2);
	EXPECT_U64(x.n, 0);
	as_life_tasks_free(x.t);
}

/* One that was there before: its threads and children belong, what it used is unknown. */
static void t_named(void)
{
	const int32_t tids[] = {10, 11};
	struct table x;
	struct as_err err;

	table_open(&x);
	x.now = 50;
	EXPECT_OK(as_life_tasks_member(x.t, 10, tids, 2, 100, &err), err);
	EXPECT_OK(as_life_tasks_member(x.t, 10, tids, 2, 110, &err), err);
	event(&x, AS_CN_FORK, 11, 10, 1); /* these came before it was named */
	born(&x, 10, US);
	x.now = 200;
	born(&x, 12, 10);
	EXPECT(stats(&x, 11, 1) && stats(&x, 10, 1));
	event(&x, AS_CN_EXIT, 10, 10, 0);
	bury(&x);
	(void)next(&x, AS_LIFE_BORN, 12);
	EXPECT_U64(x.n, 0);
	event(&x, AS_CN_EXIT, 11, 10, 0);
	bury(&x);
	EXPECT_I64(next(&x, AS_LIFE_DIED, 10)->usage.cpu_ns, AS_PROC_NA);
	as_life_tasks_free(x.t);
}

static void t_thousands(void)
{
	struct table x;

	table_open(&x);
	born(&x, 10, US);
	x.n = 0;
	for (int32_t i = 0; i < 20000; i++) {
		born(&x, 100 + i, 10);
		event(&x, AS_CN_FORK, 100000 + i, 100 + i, 10);
		EXPECT(stats(&x, 100000 + i, 1) && stats(&x, 100 + i, i));
		event(&x, AS_CN_EXIT, 100000 + i, 100 + i, 0);
		event(&x, AS_CN_EXIT, 100 + i, 100 + i, 0);
		bury(&x);
		(void)next(&x, AS_LIFE_BORN, 100 + i);
		EXPECT_I64(next(&x, AS_LIFE_DIED, 100 + i)->usage.cpu_ns, i + 1);
	}
	as_life_tasks_free(x.t);
}

UTEST_MAIN(T(t_one_life), T(t_lived), T(t_strangers), T(t_descendants), T(t_last_name),
	   T(t_exec_then_child), T(t_leader_first), T(t_thread_execs), T(t_leader_execs),
	   T(t_pid_again), T(t_half_told), T(t_named), T(t_thousands))
