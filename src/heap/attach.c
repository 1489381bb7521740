#include "heap/attach.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/span.h"
#include "heap/ask.h"
#include "os/call.h"
#include "os/folder.h"
#include "os/inject.h"
#include "os/remote.h"

enum {
	THREADS = 64, /* that are looked at                     */
	STOPS = 60,   /* of threads, before we give up          */
	CALM = 3,     /* rounds in which only sleepers will do  */
	PIECE = 16 << 10,
	DEEP = 256 << 10, /* of a stack that is looked through  */
	SEGMENTS = 192,   /* from a handler's return address on */
	USER_CODE = 0x33, /* x86-64: selector of a program's code */
};

#define SEEK  (3 * AS_SECOND)  /* a moment                              */
#define ENTER (20 * AS_SECOND) /* for the library to come, once begun   */
#define ASKED (AS_SECOND / 2)  /* for a Python to come to it, if there is another way */

struct attempt {
	const struct as_env *env;
	const struct as_way_in *way;
	struct as_inject inject;
	struct as_attached *ret;
	bool busy_too; /* threads that run will do */
};

/* ── a good moment ────────────────────────────────────────────────────── */

static bool within(const struct as_target_range *r, uint64_t at)
{
	return at >= r->start && at < r->end;
}

/* A lock's wait is no good: it may be that of the allocator. */
static bool is_for_waiting(int64_t call, uint64_t operation)
{
	if (call == SYS_futex)
		return (operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	return as_call_idles((int32_t)call) || call == SYS_read || call == SYS_readv ||
	       call == SYS_recvfrom || call == SYS_recvmsg;
}

static bool in_code_apart(const struct as_way_in *w, uint64_t pc)
{
	for (size_t i = 0; i < w->code.napart; i++)
		if (within(&w->code.apart[i], pc))
			return true;
	return false;
}

/*
 * Behind a handler's return address the kernel has put the thread's registers, the segment of its
 * code among them. sigaction() leaves the same address on the stack, without those: who waits in a
 * shell's `read -t` would never have another moment.
 */
static bool is_frame(const struct attempt *a, uint64_t at)
{
	uint64_t segments = 0;

	return !as_remote_read(a->way->pid, at + SEGMENTS, &segments, sizeof segments) &&
	       (segments & 0xff) == USER_CODE;
}

static bool holds_frame(const struct attempt *a, uint64_t at, const char *p, size_t n)
{
	uint64_t word = a->way->return_at;

	for (size_t i = 0; i + sizeof word <= n; i += sizeof word)
		if (!memcmp(p + i, &word, sizeof word) && is_frame(a, at + i))
			return true;
	return false;
}

/* A handler returns to one place. What is found may be old: then another moment will do. */
static bool in_handler(const struct attempt *a, uint64_t sp)
{
	char piece[PIECE];

	for (uint64_t at = sp & ~UINT64_C(7); at < sp + DEEP; at += sizeof piece) {
		struct as_range r = {at, piece, sizeof piece};
		ssize_t n = as_remote_gather(a->way->pid, &r, 1);

		if (n > 0 && holds_frame(a, at, piece, (size_t)n))
			return true;
		if (n < (ssize_t)sizeof piece)
			return false;
	}
	return false;
}

static bool safe(void *arg, const struct as_borrowed *b)
{
	const struct attempt *a = arg;

	if (b->call >= 0
		    ? !is_for_waiting(b->call, b->arg[1]) || within(&a->way->code.loader, b->pc)
		    : in_code_apart(a->way, b->pc))
		return false;
	return !in_handler(a, b->sp);
}

static void nap(int64_t ns)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* ── threads ──────────────────────────────────────────────────────────── */

/* Is it asleep where it may be borrowed? Asked without stopping it. */
static bool sleeps_well(const struct attempt *a, pid_t tid)
{
	char path[48], text[256];
	struct as_err ignored;
	struct as_call c;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task/%d/syscall", (int)a->way->pid, (int)tid);
	return as_read_at(a->env->proc, path, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_parse_call(text, n, &c) && c.nr >= 0 && is_for_waiting(c.nr, c.arg[1]);
}

static size_t list_threads(const struct attempt *a, pid_t tid[THREADS])
{
	char path[32];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task", (int)a->way->pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(a->env->proc, path)};
	for (const struct dirent *e; n < THREADS && (e = as_folder_next(&f));) {
		uint64_t v = 0;

		if (as_scan_u64(e->d_name, strlen(e->d_name), &v) && v <= INT32_MAX)
			tid[n++] = (pid_t)v;
	}
	return n;
}

static enum as_inject_result try_thread(struct attempt *a, pid_t tid)
{
	a->inject.tid = a->ret->tid = tid;
	a->ret->stops++;
	enum as_inject_result r = as_inject(&a->inject);

	a->ret->stopped_ns = a->inject.stopped_ns;
	return r;
}

/* The first thread that will do, if there is one. */
static enum as_inject_result try_all(struct attempt *a)
{
	pid_t tid[THREADS];
	size_t n = list_threads(a, tid);
	enum as_inject_result r = AS_INJECT_UNSAFE;

	for (size_t i = 0; i < n && a->ret->stops < STOPS; i++) {
		if (!sleeps_well(a, tid[i]) && !a->busy_too)
			continue;
		r = try_thread(a, tid[i]);
		if (r != AS_INJECT_UNSAFE && r != AS_INJECT_ELSEWHERE)
			break;
	}
	return r;
}

static int tell(struct attempt *a, enum as_inject_result r, struct as_err *err)
{
	int pid = (int)a->way->pid;

	if (r == AS_INJECT_FAILED) {
		if (a->inject.at)
			(void)as_inject_undo(&a->inject);
		(void)as_fail_errno(err, a->inject.os ? a->inject.os : EFAULT,
				    "process %d could not be given another thread", pid);
		return err->code;
	}
	if (r == AS_INJECT_LEFT)
		return as_fail(err, AS_EUNSUP,
			       "process %d did not start a thread in time; it goes on as it was",
			       pid);
	(void)as_fail(err, AS_EUNSUP,
		      "process %d had no moment in which a thread could be borrowed safely", pid);
	return as_hint(err, "all of them were inside of libc, the loader, an allocator or a "
			    "handler: try again");
}

static int seek_moment(struct attempt *a, struct as_err *err)
{
	int64_t until = as_now() + SEEK;
	enum as_inject_result r = AS_INJECT_UNSAFE;

	for (int round = 0; as_now() < until && a->ret->stops < STOPS; round++) {
		a->busy_too = round >= CALM;
		r = try_all(a);
		if (r != AS_INJECT_UNSAFE && r != AS_INJECT_ELSEWHERE)
			break;
		nap(round < 10 ? 3 * AS_MSEC : 20 * AS_MSEC);
	}
	return r == AS_INJECT_DONE ? AS_OK : tell(a, r, err);
}

/* ── what came of it ──────────────────────────────────────────────────── */

static int judge(const struct attempt *a, const struct as_wire_attach *w, struct as_err *err)
{
	static const char *const why[AS_WIRE_ATTACH_STATES] = {
		[AS_WIRE_ATTACH_THERE] = "is being recorded already",
		[AS_WIRE_ATTACH_FIRST] = "was started with assay's library: it has recorded from "
					 "the start, or was left alone",
		[AS_WIRE_ATTACH_BUILTIN] = "has an allocator of its own built in",
		[AS_WIRE_ATTACH_REFUSED] = "could not reach the collector",
	};
	uint32_t status = atomic_load(&w->status);
	int pid = (int)a->way->pid;

	if (status == AS_WIRE_ATTACH_DONE)
		return AS_OK;
	if (status == AS_WIRE_ATTACH_ERROR)
		return as_fail(err, AS_EUNSUP, "process %d could not load the library: %.200s", pid,
			       w->error);
	if (status < AS_WIRE_ATTACH_STATES && why[status])
		return as_fail(err, AS_EUNSUP, "process %d %s", pid, why[status]);
	return as_fail(err, AS_EUNSUP, "process %d has not loaded the library in time", pid);
}

static bool is_final(uint32_t status)
{
	return status != AS_WIRE_ATTACH_COMES && status != AS_WIRE_ATTACH_LOADED;
}

static bool read_back(const struct attempt *a, struct as_wire_attach *ret)
{
	return !as_remote_read(a->way->pid, a->inject.at, ret, sizeof *ret) &&
	       ret->magic == AS_WIRE_ATTACH_MAGIC;
}

static int wait_for_guest(struct attempt *a, struct as_err *err)
{
	int64_t until = as_now() + ENTER;
	struct as_wire_attach w;
	bool there;

	while ((there = read_back(a, &w)) && !is_final(atomic_load(&w.status)) && as_now() < until)
		nap(AS_MSEC);
	if (!there)
		return as_fail(err, AS_ENOTFOUND, "process %d has ended", (int)a->way->pid);
	if (atomic_load(&w.status) == AS_WIRE_ATTACH_ERROR)
		(void)as_inject_undo(&a->inject);
	else
		as_inject_release(&a->inject);
	a->ret->stopped_ns = a->inject.stopped_ns;
	return judge(a, &w, err);
}

/* ── by its own Python ────────────────────────────────────────────────── */

static uint32_t wait_asked(const struct as_ask *q, bool begun, int64_t ns)
{
	int64_t until = as_now() + ns;
	uint32_t status;

	while (status = atomic_load(&q->shared->status),
	       as_now() < until && (begun ? !is_final(status) : status == AS_WIRE_ATTACH_COMES))
		nap(AS_MSEC);
	return status;
}

/* The guest came; false: it does not, by this way. What it said is in the question's struct. */
static bool put_to_it(struct as_ask *q, const struct attempt *a, const char *door)
{
	struct as_err ignored;
	int64_t patience = a->way->bound.code ? ENTER : ASKED;

	if (as_ask(q, door, a->way->library, &ignored) < 0)
		return false;
	if (wait_asked(q, false, patience) == AS_WIRE_ATTACH_COMES) {
		as_ask_withdraw(q);
		nap(AS_MSEC);
	}
	if (atomic_load(&q->shared->status) == AS_WIRE_ATTACH_COMES)
		return false;
	(void)wait_asked(q, true, ENTER);
	return true;
}

/* UNSUP: nobody can be asked, or does not answer. */
static int ask(struct attempt *a, const char *door, struct as_err *err)
{
	as_cleanup(as_ask_done) struct as_ask q = {0};
	int r = as_ask_find(a->env, a->way->pid, &q, err);

	if (r < 0)
		return r;
	if (!put_to_it(&q, a, door)) {
		(void)as_fail(err, AS_EUNSUP, "process %d has not come to load the library",
			      (int)a->way->pid);
		return as_hint(err, "its main thread runs no Python now: try again");
	}
	a->ret->asked = true;
	return judge(a, q.shared, err);
}

/* ── its thread ───────────────────────────────────────────────────────── */

static bool is_visitor(const struct as_env *env, pid_t pid, pid_t tid)
{
	char path[48], text[32];
	struct as_err ignored;
	size_t n = 0;

	(void)snprintf(path, sizeof path, "%d/task/%d/comm", (int)pid, (int)tid);
	return as_read_at(env->proc, path, text, sizeof text, &n, &ignored) == AS_OK &&
	       as_span_is(as_span(text, n), AS_WIRE_ATTACH_THREAD "\n");
}

/* By its name: its own number for it may be another than ours. */
static pid_t find_visitor(const struct as_env *env, pid_t pid)
{
	char path[32];
	uint64_t tid = 0;

	(void)snprintf(path, sizeof path, "%d/task", (int)pid);
	as_auto_folder struct as_folder f = {.fd = as_folder_open(env->proc, path)};
	for (const struct dirent *e; (e = as_folder_next(&f));)
		if (as_scan_u64(e->d_name, strlen(e->d_name), &tid) && tid <= INT32_MAX &&
		    is_visitor(env, pid, (pid_t)tid))
			return (pid_t)tid;
	return 0;
}

bool as_attach_stays(const struct as_env *env, const struct as_attached *a)
{
	return a->visitor && is_visitor(env, a->pid, a->visitor);
}

static uint64_t moment_to_die(void)
{
	const char *wish = getenv("ASSAY_INJECT_DIE");
	uint64_t at = 0;

	return wish && as_scan_u64(wish, strlen(wish), &at) ? at : 0;
}

static void fill(struct attempt *a, const char *door)
{
	struct as_wire_attach *w = &a->inject.with;
	const struct as_way_in *way = a->way;

	a->inject.die_at = moment_to_die();
	a->inject.pid = way->pid;
	a->inject.call_at = way->call_at;
	a->inject.return_at = way->return_at;
	a->inject.safe = safe;
	a->inject.arg = a;
	w->door = way->door;
	w->thread_create = way->thread_create;
	w->load = way->load;
	w->find = way->find;
	w->why = way->why;
	w->detach = way->detach;
	(void)snprintf(w->name, sizeof w->name, "%s", AS_WIRE_ATTACH_DOOR);
	(void)snprintf(w->socket, sizeof w->socket, "%s", door);
	(void)snprintf(w->library, sizeof w->library, "%s", way->library);
}

static int borrow(struct attempt *a, const char *door, struct as_err *err)
{
	if (a->way->bound.code) {
		*err = a->way->bound;
		return err->code;
	}
	fill(a, door);
	int r = seek_moment(a, err);
	return r < 0 ? r : wait_for_guest(a, err);
}

int as_attach_may(const struct as_env *env, pid_t pid, struct as_err *err)
{
	struct as_way_in way;
	struct as_ask q;
	int r = as_way_in(env, pid, NULL, &way, err);

	if (r < 0)
		return r;
	r = as_ask_find(env, pid, &q, err);
	if (r != AS_EUNSUP)
		return r;
	if (way.bound.code)
		*err = way.bound;
	return way.bound.code;
}

int as_attach(const struct as_env *env, pid_t pid, const char *door, struct as_attached *ret,
	      struct as_err *err)
{
	struct as_way_in way;
	struct attempt a = {.env = env, .way = &way, .ret = ret};
	int r = as_way_in(env, pid, door, &way, err);

	*ret = (struct as_attached){.pid = pid};
	if (r < 0)
		return r;
	r = ask(&a, door, err);
	if (r == AS_EUNSUP && !ret->asked)
		r = borrow(&a, door, err);
	if (r == AS_OK)
		ret->visitor = find_visitor(env, pid);
	return r;
}
