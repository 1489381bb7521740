/* life_bpf -- what BPF tells of births, execs and ends, beside what the test itself knows. */
#include "utest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "os/life.h"
#include "os/proc.h"
#include "refused.h"

enum { HEARD_MAX = 40000, ARGS = 64 };

struct heard {
	struct as_life life;
	char args[ARGS];
};

struct ear {
	struct as_env env;
	struct as_life_source *source;
	struct heard *heard;
	size_t n;
};

static void hear(void *data, const struct as_life *life)
{
	struct ear *e = data;

	EXPECT(e->n < HEARD_MAX);
	struct heard *h = &e->heard[e->n++];
	h->life = *life;
	for (size_t i = 0; i < life->args_len && i < ARGS - 1; i++)
		h->args[i] = life->args[i] ? life->args[i] : ' ';
}

static void ear_open(struct ear *e)
{
	struct as_err err = {0};

	SKIP_TSAN();
	(void)unsetenv("ASSAY_ROOT");
	memset(e, 0, sizeof *e);
	e->heard = calloc(HEARD_MAX, sizeof *e->heard);
	EXPECT_OK(as_env_open(&e->env, &err), err);
	if (as_life_bpf.open(&e->source, &e->env, &err) < 0)
		SKIP_REFUSED(err);
	EXPECT_OK(as_life_bpf.parent(e->source, getpid(), &err), err);
}

static void ear_drain(struct ear *e)
{
	struct as_err err;

	EXPECT_OK(as_life_bpf.drain(e->source, hear, e, &err), err);
}

static void ear_close(struct ear *e)
{
	as_life_bpf.close(e->source);
	as_env_close(&e->env);
	free(e->heard);
}

static const struct heard *find(const struct ear *e, enum as_life_kind kind, pid_t pid)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->heard[i].life.kind == kind && e->heard[i].life.pid == pid)
			return &e->heard[i];
	return NULL;
}

static const struct as_life *told(const struct ear *e, enum as_life_kind kind, pid_t pid)
{
	const struct heard *h = find(e, kind, pid);

	if (!h)
		UTEST_FAIL("nothing of kind %d was told of process %d", kind, pid);
	return &h->life;
}

static size_t count(const struct ear *e, enum as_life_kind kind, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++)
		n += e->heard[i].life.kind == kind && (!pid || e->heard[i].life.pid == pid);
	return n;
}

/* All that ended is off the CPU in a moment; the kernel frees it much later. */
static void settle(struct ear *e)
{
	for (int i = 0; as_life_bpf.settle(e->source) > 0 && i < 1000; i++)
		(void)usleep(1000);
	ear_drain(e);
}

static const struct as_life *end_of(struct ear *e, pid_t pid)
{
	settle(e);
	return told(e, AS_LIFE_SETTLED, pid);
}

static int reap(pid_t pid, struct rusage *ru)
{
	int st = 0;

	EXPECT(wait4(pid, &st, 0, ru) == pid);
	return st;
}

static double cpu_of(const struct rusage *ru)
{
	return (double)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) +
	       (double)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) / 1e6;
}

static void burn(double seconds, clockid_t clock)
{
	for (int64_t end = as_clock(clock) + (int64_t)(seconds * 1e9); as_clock(clock) < end;)
		;
}

/* ── births and ends ──────────────────────────────────────────────────── */

static void t_a_life(void)
{
	struct ear e;
	struct rusage ru;
	int64_t before = as_clock(CLOCK_BOOTTIME);

	ear_open(&e);
	pid_t pid = fork();
	if (!pid) {
		pid_t grandchild = fork();
		if (!grandchild)
			_exit(0);
		(void)waitpid(grandchild, NULL, 0);
		(void)execl("/bin/sh", "sh", "-c", "kill -TERM $$", NULL);
		_exit(98);
	}
	int st = reap(pid, &ru);
	ear_drain(&e);
	const struct as_life *born = told(&e, AS_LIFE_BORN, pid);
	const struct as_life *died = told(&e, AS_LIFE_DIED, pid);
	EXPECT_I64(born->parent, getpid());
	EXPECT(born->start_ns >= before && born->start_ns <= as_clock(CLOCK_BOOTTIME));
	EXPECT_STR(born->comm, "t_life_bpf");
	EXPECT_I64(count(&e, AS_LIFE_BORN, 0), 2);
	EXPECT_I64(count(&e, AS_LIFE_EXEC, 0), 1);
	EXPECT_STR(told(&e, AS_LIFE_EXEC, pid)->comm, "sh");
	EXPECT_STR(find(&e, AS_LIFE_EXEC, pid)->args, "sh -c kill -TERM $$ ");
	EXPECT_I64(died->status, st);
	EXPECT_I64(WTERMSIG(died->status), SIGTERM);
	EXPECT_I64(died->start_ns, born->start_ns);
	EXPECT(died->t_ns > born->t_ns && died->t_ns <= as_now());
	EXPECT_U64(as_life_bpf.lost(e.source), 0);
	ear_close(&e);
}

/* Its last program is small, whatever it was before. */
static void t_peak_of_the_last_program(void)
{
	struct ear e;
	struct rusage ru;
	enum { BYTES = 64 << 20 };

	ear_open(&e);
	pid_t pid = fork();
	if (!pid) {
		char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		if (p != MAP_FAILED)
			memset(p, 1, BYTES);
		pid_t child = fork(); /* not followed by an exec: keeps it all */
		if (!child)
			_exit(0);
		(void)waitpid(child, NULL, 0);
		(void)execl("/bin/true", "true", NULL);
		_exit(98);
	}
	(void)reap(pid, &ru);
	ear_drain(&e);
	EXPECT(ru.ru_maxrss * 1024L >= BYTES); /* what wait() says is of all programs */
	int64_t hwm = told(&e, AS_LIFE_DIED, pid)->usage.hwm;
	EXPECT(hwm == AS_PROC_NA || (hwm > 500 << 10 && hwm < 16 << 20));
	for (size_t i = 0; i < e.n; i++)
		if (e.heard[i].life.kind == AS_LIFE_DIED && e.heard[i].life.pid != pid)
			EXPECT_NEAR((double)e.heard[i].life.usage.hwm, 1.3 * BYTES, 0.32 * BYTES);
	ear_close(&e);
}

static void t_reads_and_writes(void)
{
	struct ear e;
	struct rusage ru;

	ear_open(&e);
	pid_t pid = fork();
	if (!pid) {
		as_auto_fd int fd = open("/dev/zero", O_RDONLY);
		char bytes[1000];
		for (int i = 0; i < 7; i++)
			(void)!read(fd, bytes, sizeof bytes);
		_exit(0);
	}
	(void)reap(pid, &ru);
	ear_drain(&e);
	const struct as_life *end = end_of(&e, pid);
	EXPECT_I64(end->usage.rchar, 7000);
	EXPECT_I64(end->usage.syscr, 7);
	EXPECT_I64(end->usage.wchar, 0);
	EXPECT_I64(end->usage.minflt, ru.ru_minflt);
	EXPECT_I64(end->usage.threads, 1);
	ear_close(&e);
}

/* ── threads ──────────────────────────────────────────────────────────── */

static void *work(void *ms)
{
	burn((double)(intptr_t)ms / 1e3, CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void *work_and_exit(void *status)
{
	work((void *)30);
	_exit((int)(intptr_t)status);
}

static void *become_another(void *unused)
{
	(void)unused;
	work((void *)30);
	(void)execl("/bin/sh", "sh", "-c", "exit 5", NULL);
	_exit(98);
}

/* A process whose first thread starts another that does `fn`, and then ends or works itself. */
static pid_t process_with(void *(*fn)(void *), void *arg, bool leader_ends)
{
	pid_t pid = fork();
	pthread_t id;

	if (pid)
		return pid;
	if (pthread_create(&id, NULL, fn, arg))
		_exit(97);
	if (leader_ends)
		pthread_exit(NULL);
	work((void *)20);
	(void)pthread_join(id, NULL);
	_exit(0);
}

static void expect_end(struct ear *e, pid_t pid, int status, int64_t threads)
{
	struct rusage ru;

	EXPECT_I64(WEXITSTATUS(reap(pid, &ru)), status);
	ear_drain(e);
	const struct as_life *end = end_of(e, pid);
	EXPECT_I64(count(e, AS_LIFE_BORN, pid), 1);
	EXPECT_I64(count(e, AS_LIFE_DIED, pid), 1);
	EXPECT_I64(WEXITSTATUS(told(e, AS_LIFE_DIED, pid)->status), status);
	EXPECT_I64(end->usage.threads, threads);
	EXPECT((double)end->usage.cpu_ns / 1e9 >= 0.999 * cpu_of(&ru) - 0.004);
	EXPECT((double)end->usage.cpu_ns / 1e9 <= cpu_of(&ru) + 0.008);
}

static void t_two_threads(void)
{
	struct ear e;

	ear_open(&e);
	expect_end(&e, process_with(work, (void *)30, false), 0, 2);
	ear_close(&e);
}

static void t_the_first_thread_ends_first(void)
{
	struct ear e;

	ear_open(&e);
	expect_end(&e, process_with(work_and_exit, (void *)7, true), 7, 2);
	ear_close(&e);
}

/* The other threads die, the one that execs becomes the first; the process lives on. */
static void t_a_thread_execs(void)
{
	struct ear e;

	ear_open(&e);
	pid_t pid = process_with(become_another, NULL, false);
	expect_end(&e, pid, 5, 2);
	EXPECT_I64(count(&e, AS_LIFE_EXEC, pid), 1);
	ear_close(&e);
}

/* ── who belongs ──────────────────────────────────────────────────────── */

/* Waits for a byte, then forks a child and ends; its last thread-less second half is heard. */
static pid_t sleeper(int *ret_wake)
{
	int ends[2];
	pthread_t id;

	EXPECT(pipe(ends) == 0);
	pid_t pid = fork();
	if (pid) {
		(void)close(ends[0]);
		*ret_wake = ends[1];
		return pid;
	}
	(void)close(ends[1]);
	if (pthread_create(&id, NULL, work, (void *)40) == 0)
		(void)pthread_join(id, NULL);
	(void)!read(ends[0], &(char){0}, 1);
	pid_t child = fork();
	if (!child)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	_exit(4);
}

static void t_named_midway(void)
{
	struct ear e;
	struct as_err err;
	struct rusage ru;
	int wake = -1;
	pid_t pid = sleeper(&wake);

	ear_open(&e);
	(void)usleep(100000);
	EXPECT_OK(as_life_bpf.member(e.source, pid, &err), err);
	(void)close(wake);
	EXPECT_I64(WEXITSTATUS(reap(pid, &ru)), 4);
	ear_drain(&e);
	EXPECT_I64(count(&e, AS_LIFE_BORN, pid), 0);
	EXPECT_I64(count(&e, AS_LIFE_BORN, 0), 1);
	EXPECT_I64(WEXITSTATUS(told(&e, AS_LIFE_DIED, pid)->status), 4);
	EXPECT_NEAR((double)end_of(&e, pid)->usage.cpu_ns / 1e9, cpu_of(&ru), 0.004);
	EXPECT_I64(end_of(&e, pid)->usage.threads, AS_PROC_NA);
	ear_close(&e);
}

static void t_strangers_are_not_told(void)
{
	struct ear e;
	struct rusage ru;
	int wake = -1;
	pid_t pid = sleeper(&wake);

	ear_open(&e);
	(void)close(wake);
	(void)reap(pid, &ru);
	(void)usleep(50000);
	ear_drain(&e);
	EXPECT_U64(e.n, 0);
	ear_close(&e);
}

/* ── many ─────────────────────────────────────────────────────────────── */

/* Also the time that a child of 1 ms was on the CPU since the last tick. */
static void t_short_children(void)
{
	enum { N = 500 };
	struct ear e;
	struct rusage ru;
	double truth = 0, seen = 0;

	ear_open(&e);
	for (int i = 0; i < N; i++) {
		pid_t pid = fork();
		if (!pid) {
			burn(0.001, CLOCK_PROCESS_CPUTIME_ID);
			_exit(0);
		}
		(void)reap(pid, &ru);
		truth += cpu_of(&ru);
	}
	settle(&e);
	EXPECT_I64(count(&e, AS_LIFE_BORN, 0), N);
	EXPECT_I64(count(&e, AS_LIFE_DIED, 0), N);
	EXPECT_I64(count(&e, AS_LIFE_SETTLED, 0), N);
	for (size_t i = 0; i < e.n; i++)
		if (e.heard[i].life.kind == AS_LIFE_SETTLED)
			seen += (double)e.heard[i].life.usage.cpu_ns / 1e9;
	/* wait4() may count a last stretch of the way out of the kernel no more. */
	EXPECT(seen > truth - 1e-6 * N);
	EXPECT_NEAR(seen, truth, 0.001 * truth + 50e-6 * N);
	ear_close(&e);
}

/* Whoever adds a thread up first, we or the kernel that frees it, is the only one. */
static void t_settled_once(void)
{
	enum { N = 40 };
	struct ear e;
	struct rusage ru;

	ear_open(&e);
	for (int i = 0; i < N; i++) {
		pid_t pid = process_with(i % 4 ? work : work_and_exit, (void *)1, i % 4 == 0);

		(void)reap(pid, &ru);
		settle(&e);
		EXPECT_I64(count(&e, AS_LIFE_SETTLED, pid), 1);
		EXPECT((double)told(&e, AS_LIFE_SETTLED, pid)->usage.cpu_ns / 1e9 >=
		       cpu_of(&ru) - 2e-6);
	}
	(void)usleep(100000);
	ear_drain(&e);
	EXPECT_I64(count(&e, AS_LIFE_SETTLED, 0), N);
	ear_close(&e);
}

static void vfork_and_reap(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	(void)waitpid(pid, NULL, 0);
}

static bool readable(const struct ear *e)
{
	struct pollfd p = {.fd = as_life_bpf.fd(e->source), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Nobody listens for a while: what did not fit is counted, and the rest is whole. */
static void t_a_full_ring(void)
{
	enum { N = 6000 };
	struct ear e;

	EXPECT(setenv("ASSAY_BPF_ROOM", "1048576", 1) == 0);
	ear_open(&e);
	EXPECT(unsetenv("ASSAY_BPF_ROOM") == 0);
	EXPECT(!readable(&e));
	for (int i = 0; i < N; i++)
		vfork_and_reap();
	EXPECT(readable(&e));
	EXPECT(as_life_bpf.lost(e.source) > 0);
	ear_drain(&e);
	EXPECT(!readable(&e) || e.n > 0);
	EXPECT(count(&e, AS_LIFE_BORN, 0) > 1000 && count(&e, AS_LIFE_BORN, 0) < N);
	(void)usleep(200000);
	ear_drain(&e);
	uint64_t lost = as_life_bpf.lost(e.source);
	for (int i = 0; i < 10; i++)
		vfork_and_reap();
	size_t before = count(&e, AS_LIFE_BORN, 0);
	ear_drain(&e);
	EXPECT_U64(count(&e, AS_LIFE_BORN, 0) - before, 10);
	EXPECT_U64(as_life_bpf.lost(e.source), lost);
	ear_close(&e);
}

/* ── refused ──────────────────────────────────────────────────────────── */

static void t_refused_to_nobody(void)
{
	struct as_env env;
	struct as_err err = {0};
	struct as_life_source *s = NULL;

	EXPECT_OK(as_env_open(&env, &err), err);
	if (geteuid() == 0)
		EXPECT(setresuid(65534, 65534, 65534) == 0);
	EXPECT(as_life_bpf.open(&s, &env, &err) < 0);
	EXPECT(s == NULL && err.msg[0]);
	as_env_close(&env);
}

static void t_not_for_a_captured_machine(void)
{
	struct as_env env;
	struct as_err err = {0};
	struct as_life_source *s = NULL;

	(void)setenv("ASSAY_ROOT", "tests/fixtures/v2", 1);
	EXPECT_OK(as_env_open(&env, &err), err);
	EXPECT_I64(as_life_bpf.open(&s, &env, &err), AS_EUNSUP);
	as_env_close(&env);
}

UTEST_MAIN(T(t_a_life), T(t_peak_of_the_last_program), T(t_reads_and_writes), T(t_two_threads),
	   T(t_the_first_thread_ends_first), T(t_a_thread_execs), T(t_named_midway),
	   T(t_strangers_are_not_told), T(t_short_children), T(t_settled_once), T(t_a_full_ring),
	   T(t_refused_to_nobody), T(t_not_for_a_captured_machine))
