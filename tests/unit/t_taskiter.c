/* taskiter -- what the BPF task iterator tells, beside what /proc tells of the same process. */
#include "utest.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "os/proc.h"
#include "os/taskiter.h"
#include "refused.h"

enum { RECORDS = 4096 };

struct rig {
	struct as_env env;
	struct as_life_source *source;
	struct as_wire_process v[RECORDS]; /* group.threads 0: a thread's */
	size_t n;
	uint64_t quiet;
};

static void hear(void *data, const struct as_wire_thread *t, const struct as_wire_group *g)
{
	struct rig *r = data;

	EXPECT(r->n < RECORDS);
	r->v[r->n].first = *t;
	memset(&r->v[r->n].group, 0, sizeof r->v->group);
	if (g)
		memcpy(&r->v[r->n].group, g,
		       t->kind == AS_WIRE_BRIEF ? offsetof(struct as_wire_group, ended)
						: sizeof *g);
	r->n++;
}

static struct rig *rig_open(void)
{
	struct rig *r = calloc(1, sizeof *r);
	struct as_err err = {0};

	SKIP_TSAN();
	(void)unsetenv("ASSAY_ROOT");
	EXPECT_OK(as_env_open(&r->env, &err), err);
	if (as_life_bpf.open(&r->source, &r->env, &err) < 0)
		SKIP_REFUSED(err);
	EXPECT_OK(as_life_bpf.parent(r->source, getpid(), &err), err);
	return r;
}

static void pass(struct rig *r, bool all)
{
	struct as_err err;

	r->n = 0;
	EXPECT_OK(as_taskiter_pass(r->source, all, hear, r, &r->quiet, &err), err);
}

static void rig_pass(struct rig *r)
{
	pass(r, true);
}

static void rig_close(struct rig *r)
{
	as_life_bpf.close(r->source);
	as_env_close(&r->env);
	free(r);
}

static const struct as_wire_process *find(const struct rig *r, pid_t pid)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].group.threads && r->v[i].first.pid == pid)
			return &r->v[i];
	UTEST_FAIL("nothing was told of process %d", pid);
}

static size_t slurp(pid_t pid, const char *file, char *text, size_t size)
{
	struct as_err err;
	char path[64];
	size_t n = 0;
	int proc = open("/proc", O_PATH);

	(void)snprintf(path, sizeof path, "%d/%s", pid, file);
	EXPECT_OK(as_read_at(proc, path, text, size, &n, &err), err);
	(void)close(proc);
	return n;
}

/* ── the target ───────────────────────────────────────────────────────── */

static void *sleep_long(void *name)
{
	(void)prctl(PR_SET_NAME, name);
	(void)pause();
	return NULL;
}

static void *work(void *unused)
{
	for (int64_t end = as_clock(CLOCK_THREAD_CPUTIME_ID) + 20 * AS_MSEC;
	     as_clock(CLOCK_THREAD_CPUTIME_ID) < end;)
		;
	return unused;
}

static void use_memory_and_files(void)
{
	enum { BYTES = 24 << 20 };
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *q = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("/dev/zero", O_RDONLY);

	if (p == MAP_FAILED || q == MAP_FAILED || read(fd, p, BYTES) != BYTES)
		_exit(97);
	memset(q, 1, BYTES / 2);
	(void)munmap(p, BYTES / 3); /* so that the mark is above the present */
}

/* A process that used this and that and now sleeps in three threads; one more has ended. */
static pid_t target(bool leader_ends)
{
	int ready[2];
	pthread_t id;

	EXPECT(pipe(ready) == 0);
	pid_t pid = fork();
	if (!pid) {
		(void)pthread_create(&id, NULL, work, NULL);
		(void)pthread_join(id, NULL);
		(void)work(NULL);
		use_memory_and_files();
		(void)pthread_create(&id, NULL, sleep_long, (char[]){"first"});
		(void)pthread_create(&id, NULL, sleep_long, (char[]){"second"});
		(void)usleep(50000);
		(void)!write(ready[1], "", 1);
		if (leader_ends)
			pthread_exit(NULL);
		for (;;)
			(void)pause();
	}
	EXPECT(read(ready[0], &(char){0}, 1) == 1);
	(void)usleep(50000);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

/* ── tests ────────────────────────────────────────────────────────────── */

static struct as_wire_usage all_of(const struct rig *r, pid_t pid)
{
	struct as_wire_usage sum = find(r, pid)->group.ended.threads;

	for (size_t i = 0; i < r->n; i++) {
		const struct as_wire_thread *t = &r->v[i].first;

		if (t->pid != pid)
			continue;
		sum.cpu += t->usage.cpu;
		sum.utime += t->usage.utime;
		sum.stime += t->usage.stime;
		sum.minflt += t->usage.minflt;
		sum.rchar += t->usage.rchar;
		sum.syscr += t->usage.syscr;
	}
	return sum;
}

static void expect_stat(const struct rig *r, pid_t pid)
{
	const struct as_wire_process *w = find(r, pid);
	struct as_wire_usage all = all_of(r, pid);
	struct as_proc_stat s;
	char text[1024];
	int64_t tick = AS_SECOND / r->env.hz;

	EXPECT(as_parse_stat(text, slurp(pid, "stat", text, sizeof text), &s));
	EXPECT_I64(w->group.parent, s.ppid);
	EXPECT_STR(w->first.comm, s.comm);
	EXPECT_I64(as_task_state(&w->group), s.state);
	EXPECT_I64(w->group.threads, s.threads);
	EXPECT_I64((int64_t)w->first.start / tick, s.start);
	EXPECT_I64((int64_t)all.minflt, s.minflt);
	EXPECT_NEAR((double)all.cpu, (double)((s.utime + s.stime) * tick), 2.0 * (double)tick);
	EXPECT_I64((int64_t)w->group.vsize * r->env.page, s.vsize);
	EXPECT_NEAR((double)(w->group.file + w->group.anon + w->group.shmem), (double)s.rss, 256);
}

static void expect_memory(const struct rig *r, pid_t pid)
{
	const struct as_wire_group *g = &find(r, pid)->group;
	struct as_proc_status s;
	char text[4096];

	as_parse_status(text, slurp(pid, "status", text, sizeof text), &s);
	EXPECT_I64((int64_t)g->anon * r->env.page, s.anon);
	EXPECT_I64((int64_t)g->file * r->env.page, s.file);
	EXPECT_I64((int64_t)g->shmem * r->env.page, s.shmem);
	EXPECT_I64((int64_t)g->swap * r->env.page, s.swap);
	int64_t now = (int64_t)(g->anon + g->file + g->shmem) * r->env.page;
	int64_t high = (int64_t)g->hwm * r->env.page;
	EXPECT_NEAR((double)(high > now ? high : now), (double)s.hwm, 1 << 20);
}

static void expect_files(const struct rig *r, pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof path, "/proc/%d/fd", pid);
	EXPECT(stat(path, &st) == 0);
	if (st.st_size) /* since 6.2 */
		EXPECT_I64((int64_t)find(r, pid)->group.files, st.st_size);
}

static void expect_io(const struct rig *r, pid_t pid)
{
	struct as_wire_usage all = all_of(r, pid);
	struct as_proc_io io;
	char text[512];

	as_parse_io(text, slurp(pid, "io", text, sizeof text), &io);
	EXPECT_I64((int64_t)all.rchar, io.rchar);
	EXPECT_I64((int64_t)all.syscr, io.syscr);
}

static void t_as_proc_tells(void)
{
	struct rig *r = rig_open();
	pid_t pid = target(false);

	rig_pass(r);
	EXPECT_U64(r->n, 3);
	expect_stat(r, pid);
	expect_memory(r, pid);
	expect_io(r, pid);
	expect_files(r, pid);
	end(pid);
	rig_close(r);
}

/* The same by the helper that copies, as before Linux 6.17. */
static void t_as_proc_tells_copied(void)
{
	EXPECT(setenv("ASSAY_BPF_COPY", "1", 1) == 0);
	t_as_proc_tells();
	EXPECT(unsetenv("ASSAY_BPF_COPY") == 0);
}

static void t_threads(void)
{
	struct rig *r = rig_open();
	pid_t pid = target(false);
	int named = 0;

	rig_pass(r);
	for (size_t i = 0; i < r->n; i++) {
		const struct as_wire_thread *t = &r->v[i].first;
		struct as_proc_sched s;
		char path[64], text[128];

		(void)snprintf(path, sizeof path, "task/%d/schedstat", t->tid);
		EXPECT(as_parse_sched(text, slurp(pid, path, text, sizeof text), &s));
		EXPECT_I64((int64_t)t->usage.cpu, s.run_ns);
		EXPECT_I64((int64_t)t->usage.wait, s.wait_ns);
		EXPECT_I64((int64_t)t->slices, s.slices);
		named += !strcmp(t->comm, "first") || !strcmp(t->comm, "second");
	}
	EXPECT_I64(named, 2);
	end(pid);
	rig_close(r);
}

/* Its memory is still there, though the first thread has left it. */
static void t_without_first_thread(void)
{
	struct rig *r = rig_open();
	pid_t pid = target(true);

	rig_pass(r);
	EXPECT_U64(r->n, 3);
	EXPECT_I64(as_task_state(&find(r, pid)->group), 'Z');
	EXPECT((int64_t)find(r, pid)->group.anon * r->env.page > 16 << 20);
	end(pid);
	rig_close(r);
}

static void t_only_members(void)
{
	pid_t before = target(false);
	struct rig *r = rig_open();
	struct as_err err;

	rig_pass(r);
	EXPECT_U64(r->n, 0);
	EXPECT_OK(as_life_bpf.member(r->source, before, &err), err);
	rig_pass(r);
	EXPECT_U64(r->n, 3);
	expect_stat(r, before);
	end(before);
	rig_pass(r);
	EXPECT_U64(r->n, 0);
	rig_close(r);
}

/* More than the kernel hands out at once: no record is lost or cut. */
static void t_many(void)
{
	enum { N = 500 };
	struct rig *r = rig_open();
	pid_t pids[N];

	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			(void)pause();
			_exit(0);
		}
	}
	rig_pass(r);
	EXPECT_U64(r->n, N);
	for (int i = 0; i < N; i++)
		EXPECT_I64(find(r, pids[i])->group.parent, getpid());
	for (int i = 0; i < N; i++)
		end(pids[i]);
	rig_close(r);
}

/* Sleeps, and computes for a moment when told to. */
static pid_t sleeper(int *ret_wake)
{
	int wake[2], ready[2];
	char c;

	EXPECT(pipe(wake) == 0 && pipe(ready) == 0);
	pid_t pid = fork();
	if (!pid) {
		(void)close(wake[1]);
		do
			(void)!write(ready[1], "", 1);
		while (read(wake[0], &c, 1) == 1);
		_exit(0);
	}
	(void)close(wake[0]);
	EXPECT(read(ready[0], &c, 1) == 1);
	(void)usleep(50000);
	*ret_wake = wake[1];
	return pid;
}

static bool told(const struct rig *r, pid_t pid)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].first.pid == pid)
			return true;
	return false;
}

/* Who is asleep is counted, and told of now and then; who ran is told of with what it used. */
static void t_only_who_ran(void)
{
	struct rig *r = rig_open();
	int wake, other, again = 0;
	pid_t pid = sleeper(&wake), idle = sleeper(&other);

	pass(r, false);
	EXPECT(told(r, pid) && told(r, idle));
	EXPECT_U64(r->quiet, 0);
	uint64_t before = find(r, pid)->first.usage.syscr;
	EXPECT(write(wake, "", 1) == 1);
	(void)usleep(50000);
	pass(r, false);
	EXPECT_I64((int64_t)find(r, pid)->first.usage.syscr, (int64_t)before + 1);
	for (int i = 0; i < 128; i++) {
		pass(r, false);
		EXPECT_U64(r->n + r->quiet, 2); /* nobody is forgotten */
		again += told(r, idle);
	}
	EXPECT(again >= 2 && again < 64);
	pass(r, true);
	EXPECT_U64(r->n, 2);
	end(pid);
	end(idle);
	pass(r, false);
	EXPECT_U64(r->n + r->quiet, 0);
	rig_close(r);
}

/* Has a thread that ends, or a child that it waits for, when told to. */
static pid_t loser(int *ret_say, int *ret_done)
{
	int say[2], done[2];
	pthread_t id;
	char c;

	EXPECT(pipe(say) == 0 && pipe(done) == 0);
	pid_t pid = fork();
	if (!pid) {
		(void)close(say[1]);
		while (read(say[0], &c, 1) == 1) {
			pid_t child = c == 'c' ? fork() : -1;

			if (!child) {
				(void)work(NULL);
				_exit(0);
			}
			if (child > 0)
				(void)waitpid(child, NULL, 0);
			if (c == 't' && pthread_create(&id, NULL, work, NULL) == 0)
				(void)pthread_join(id, NULL);
			(void)usleep(20000); /* a thread is joined before it is taken apart */
			(void)!write(done[1], "", 1);
		}
		_exit(0);
	}
	(void)close(say[0]);
	*ret_say = say[1];
	*ret_done = done[0];
	return pid;
}

static const struct as_wire_process *say(struct rig *r, pid_t pid, int to, int done, char what)
{
	EXPECT(write(to, &what, 1) == 1 && read(done, &(char){0}, 1) == 1);
	(void)usleep(20000);
	pass(r, false);
	return find(r, pid);
}

/* What ended is told when something did, and once: when a thread does, and for each child. */
static void t_ended_is_told_once(void)
{
	struct rig *r = rig_open();
	int to, done;
	pid_t pid = loser(&to, &done);

	EXPECT_U64(say(r, pid, to, done, '-')->first.kind, AS_WIRE_PROCESS);
	EXPECT_U64(say(r, pid, to, done, '-')->first.kind, AS_WIRE_BRIEF);
	const struct as_wire_process *p = say(r, pid, to, done, 't');
	EXPECT_U64(p->first.kind, AS_WIRE_PROCESS);
	uint64_t cpu = p->group.ended.threads.cpu;
	EXPECT(cpu >= 20 * (uint64_t)AS_MSEC);
	EXPECT_U64(p->group.ended.child_minflt, 0);
	EXPECT_U64(say(r, pid, to, done, '-')->first.kind, AS_WIRE_BRIEF);
	p = say(r, pid, to, done, 'c');
	EXPECT_U64(p->first.kind, AS_WIRE_PROCESS);
	EXPECT_U64(p->group.ended.threads.cpu, cpu);
	EXPECT(p->group.ended.child_minflt > 0);
	EXPECT_U64(say(r, pid, to, done, '-')->first.kind, AS_WIRE_BRIEF);
	rig_pass(r);
	EXPECT_U64(find(r, pid)->first.kind, AS_WIRE_PROCESS);
	EXPECT_U64(find(r, pid)->group.ended.threads.cpu, cpu);
	end(pid);
	rig_close(r);
}

/* A process of several threads is told of whole or, when all of them were asleep, not at all. */
static void t_threads_are_told(void)
{
	struct rig *r = rig_open();
	pid_t pid = target(false);
	int quiet = 0;

	pass(r, false);
	EXPECT_U64(r->n, 3);
	for (int i = 0; i < 128; i++) {
		pass(r, false);
		EXPECT(r->n == (r->quiet ? 0 : 3));
		quiet += r->quiet == 1;
	}
	EXPECT(quiet > 64 && quiet < 128);
	end(pid);
	pass(r, false);
	EXPECT_U64(r->n + r->quiet, 0);
	rig_close(r);
}

enum { STRANGERS = 64 };

/* Has so many children of its own, who sleep, as soon as it is told to. */
static pid_t foreigner(int *ret_go, int *ret_done)
{
	int go[2], done[2];

	EXPECT(pipe(go) == 0 && pipe(done) == 0);
	pid_t pid = fork();
	if (!pid) {
		(void)!read(go[0], &(char){0}, 1);
		for (int i = 0; i < STRANGERS; i++)
			if (fork() == 0) {
				(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
				for (;;)
					(void)pause();
			}
		(void)!write(done[1], "", 1);
		for (;;)
			(void)pause();
	}
	*ret_go = go[1];
	*ret_done = done[0];
	return pid;
}

/* Who ended before it was ever looked at leaves its place in memory to others. */
static void t_places_of_the_dead(void)
{
	int go, done;
	pid_t other = foreigner(&go, &done);
	struct rig *r = rig_open();

	for (int i = 0; i < STRANGERS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		EXPECT(waitpid(pid, NULL, 0) == pid);
	}
	(void)usleep(100000);
	EXPECT(write(go, "", 1) == 1 && read(done, &(char){0}, 1) == 1);
	pass(r, false);
	EXPECT_U64(r->n + r->quiet, 0);
	end(other);
	rig_close(r);
}

static void *exec_sleep(void *unused)
{
	(void)execl("/bin/sleep", "sleep", "100", (char *)NULL);
	return unused;
}

static bool is_sleep(const struct rig *r, pid_t pid)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].group.threads && r->v[i].first.pid == pid)
			return !strcmp(r->v[i].first.comm, "sleep");
	return false;
}

/* A thread that execs becomes the process; nobody is lost or told of twice. */
static void t_a_thread_execs(void)
{
	struct rig *r = rig_open();
	bool exec = false;
	int go[2];

	EXPECT(pipe(go) == 0);
	pid_t pid = fork();
	if (!pid) {
		pthread_t id;

		(void)!read(go[0], &(char){0}, 1);
		(void)pthread_create(&id, NULL, exec_sleep, NULL);
		for (;;)
			(void)pause();
	}
	pass(r, false);
	EXPECT_U64(r->n + r->quiet, 1);
	EXPECT(write(go[1], "", 1) == 1);
	for (int i = 0; i < 10000 && !exec; i++) {
		pass(r, false);
		exec = is_sleep(r, pid);
		(void)usleep(1000);
	}
	EXPECT(exec);
	(void)usleep(50000);
	pass(r, true);
	EXPECT_U64(r->n, 1);
	EXPECT_U64(find(r, pid)->group.threads, 1);
	expect_stat(r, pid);
	end(pid);
	pass(r, false);
	EXPECT_U64(r->n + r->quiet, 0);
	rig_close(r);
}

/* More are born between two passes than are remembered one by one. */
static void t_many_births(void)
{
	enum { N = 1500 };
	struct rig *r = rig_open();
	pid_t idle = sleeper(&(int){0}), pid;

	for (int i = 0; i < N; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		EXPECT(waitpid(pid, NULL, 0) == pid);
	}
	pid = sleeper(&(int){0});
	for (int i = 0; i < 2; i++)
		pass(r, true);
	EXPECT(told(r, idle) && told(r, pid));
	EXPECT_U64(r->n, 2);
	end(idle);
	end(pid);
	rig_close(r);
}

/* There are more than it has seats for: it says so rather than tell of some. */
static void t_too_many(void)
{
	enum { SEATS = 8, N = 20 };
	struct as_err err = {0};
	int wake[N];
	pid_t pids[N];

	EXPECT(setenv("ASSAY_BPF_SEATS", "8", 1) == 0);
	struct rig *r = rig_open();
	EXPECT(unsetenv("ASSAY_BPF_SEATS") == 0);
	for (int i = 0; i < N; i++) {
		if (i == SEATS)
			rig_pass(r); /* so many have a seat */
		pids[i] = sleeper(&wake[i]);
	}
	for (int i = 0; i < 3; i++)
		EXPECT_I64(as_taskiter_pass(r->source, true, hear, r, &r->quiet, &err), AS_EUNSUP);
	for (int i = 0; i < N; i++)
		end(pids[i]);
	rig_close(r);
}

static void t_letters(void)
{
	static const struct {
		uint32_t state, exit_state;
		char letter;
	} cases[] = {{0, 0, 'R'},     {1, 0, 'S'},     {2, 0, 'D'},  {4, 0, 'T'}, {8, 0, 't'},
		     {0x402, 0, 'I'}, {0x80, 32, 'Z'}, {0, 16, 'X'}, {64, 0, 'P'}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct as_wire_group g = {.state = cases[i].state,
					  .exit_state = cases[i].exit_state};
		EXPECT_I64(as_task_state(&g), cases[i].letter);
	}
}

UTEST_MAIN(T(t_only_who_ran), T(t_ended_is_told_once), T(t_threads_are_told),
	   T(t_places_of_the_dead), T(t_a_thread_execs), T(t_many_births), T(t_as_proc_tells),
	   T(t_as_proc_tells_copied), T(t_threads), T(t_without_first_thread), T(t_only_members),
	   T(t_many), T(t_too_many), T(t_letters))
