/*
 * attach -- a guest that comes while the process runs, and goes again.
 *
 * It has a thread of its own, which lives as long as it stays: begun by whoever
 * brings us (wire/attach.h), it puts the hooks in place, looks for modules that
 * come, and takes the hooks out when the collector says so or is gone. No thread
 * of the host's has to do anything for that.
 *
 * Afterwards the library is still there, as a thread may be inside of a hook, or
 * have kept the address of one; whatever still comes by is passed on. So are
 * the addresses of what was shared with the collector, without memory behind.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "preload/begin.h"
#include "preload/got.h"
#include "preload/hook.h"
#include "preload/pyhost.h"
#include "preload/sys.h"
#include "wire/attach.h"

enum {
	LOOK_MS = 50,      /* between looks for modules that came     */
	DEAD_MS = 3000,    /* without a word the collector is gone    */
	RELEASE_MS = 2000, /* for whoever brought us                  */
	TURN_MS = 5000,    /* for one that is on its way out          */
};

void *assay_heap_attach(void *arg);

static int64_t now_ns(void)
{
	struct timespec ts = {0};

	as_sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* Until *word is no longer `value`, or so long. */
static void wait_for(_Atomic uint32_t *word, uint32_t value, int64_t ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	as_sys6(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&ts, 0, 0);
}

static void nap(void)
{
	const struct timespec ts = {.tv_nsec = 1000000};

	as_sys3(SYS_nanosleep, (long)&ts, 0, 0);
}

/* --- coming ---------------------------------------------------------------------------------- */

/*
 * What is shared is at the same addresses each time: the thread that was here
 * before must be out of it, and with little CPU time that may take a while.
 */
static bool take_turn(void)
{
	int64_t until = now_ns() + TURN_MS * 1000000ll;

	while (!as_lock_try(&as_guest.visit_lock)) {
		if (atomic_load(&as_guest.phase) == AS_GUEST_RECORDS || now_ns() >= until)
			return false;
		nap();
	}
	return true;
}

static bool has_python(void)
{
	return atomic_load(&as_pyhost.state) != AS_PYHOST_NONE;
}

static enum as_wire_attach_status come(struct as_guest_thread *t, const char *socket)
{
	static const enum as_wire_attach_status why[] = {
		[AS_GOT_FIRST] = AS_WIRE_ATTACH_FIRST,
		[AS_GOT_BUILTIN] = AS_WIRE_ATTACH_BUILTIN,
	};
	uint32_t phase = atomic_load(&as_guest.phase);

	if (phase == AS_GUEST_RECORDS || phase == AS_GUEST_BEGINS)
		return AS_WIRE_ATTACH_THERE;
	enum as_got_found found = as_got_find();
	if (found != AS_GOT_FOUND)
		return why[found];
	if (!as_guest_begin_late(t, socket))
		return AS_WIRE_ATTACH_REFUSED;
	atomic_store(&as_guest.heap->attached, AS_WIRE_ATTACHED);
	if (atomic_load(&as_pyhost.state) > AS_PYHOST_NONE &&
	    atomic_load(&as_pyhost.state) < AS_PYHOST_REFUSED)
		as_pycode_watch();
	if (has_python())
		as_pyarena_install();
	as_got_patch();
	return AS_WIRE_ATTACH_DONE;
}

/* What brought us is given back once the thread that was borrowed is out of it. */
static void release(struct as_wire_attach *a)
{
	uint64_t region = a->region, bytes = a->bytes;
	int64_t until = now_ns() + RELEASE_MS * 1000000ll;

	while (!atomic_load(&a->released) && now_ns() < until)
		nap();
	if (atomic_load(&a->released))
		as_sys3(SYS_munmap, (long)region, (long)bytes, 0);
}

/* --- CPython's objects -------------------------------------------------------------------- */

extern int Py_IsInitialized(void) __attribute__((weak, visibility("default")));

/* Its allocators are changed under its own lock, which we wait for like any thread. */
static void with_gil(void (*work)(void))
{
	const struct as_pyhost_api *api = &as_pyhost.api;

	if (!(as_guest.flags & AS_WIRE_HEAP_OBJECTS) || !api->gil_take || !api->gil_give ||
	    as_pyhost.at.free_threaded || !Py_IsInitialized || !Py_IsInitialized())
		return;
	int was = api->gil_take();
	work();
	api->gil_give(was);
}

/* --- staying ------------------------------------------------------------------------------ */

struct pulse {
	uint64_t seen;
	int64_t since;
};

static bool collector_lives(struct pulse *p)
{
	uint64_t theirs = atomic_load(&as_guest.session->now_ns);
	int64_t now = now_ns();

	if (theirs != p->seen)
		*p = (struct pulse){theirs, now};
	return now - p->since < DEAD_MS * 1000000ll;
}

static void stay(void)
{
	struct as_wire_session *s = as_guest.session;
	struct pulse pulse = {atomic_load(&s->now_ns), now_ns()};

	while (!atomic_load(&s->stop) && atomic_load(&as_guest.phase) == AS_GUEST_RECORDS) {
		if (!collector_lives(&pulse)) {
			as_guest_leave(AS_WIRE_WHY_DEAD);
			return;
		}
		as_got_look();
		wait_for(&s->stop, 0, LOOK_MS);
	}
	if (atomic_load(&as_guest.phase) == AS_GUEST_RECORDS)
		as_guest_stop();
}

/* --- going -------------------------------------------------------------------------------- */

/*
 * A thread of the host's may have taken a number, and wait for a CPU before it writes that
 * record: the collector says when it has them all.
 */
static void stay_shared(void)
{
	struct as_wire_session *s = as_guest.session;
	struct pulse pulse = {atomic_load(&s->now_ns), now_ns()};

	while (atomic_load(&s->stop) == AS_WIRE_STOP && collector_lives(&pulse))
		wait_for(&s->stop, AS_WIRE_STOP, LOOK_MS);
}

static void go(void)
{
	as_got_restore();
	if (as_pyhost.api.code_type)
		as_pycode_unwatch();
	if (has_python())
		as_pyarena_remove();
	with_gil(as_pymem_remove);
	atomic_store(&as_guest.heap->attached, AS_WIRE_DETACHED);
	stay_shared();
	as_guest_unshare();
}

AS_HOOK void *assay_heap_attach(void *arg)
{
	struct as_wire_attach *a = arg;
	struct as_guest_thread *t = as_this_thread();
	enum as_wire_attach_status status = AS_WIRE_ATTACH_THERE;
	bool turn;

	as_inside(t); /* whatever this thread does is ours */
	as_sys3(SYS_prctl, PR_SET_NAME, (long)AS_WIRE_ATTACH_THREAD, 0);
	turn = take_turn();
	if (turn)
		status = come(t, a->socket);
	if (status == AS_WIRE_ATTACH_DONE)
		with_gil(as_pymem_install);
	atomic_store(&a->status, status);
	release(a);
	if (status == AS_WIRE_ATTACH_DONE) {
		stay();
		go();
	}
	if (turn)
		as_unlock(&as_guest.visit_lock);
	return NULL;
}
