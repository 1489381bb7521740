#include "preload/begin.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "preload/connect.h"
#include "preload/environment.h"
#include "preload/got.h"
#include "preload/module.h"
#include "preload/next.h"
#include "preload/pyhost.h"
#include "preload/record.h"
#include "preload/ring.h"
#include "preload/sample.h"
#include "preload/symbol.h"
#include "preload/sys.h"

/* What a forked child still knows of us; the guest itself is empty there. */
static struct {
	struct as_environment to;
	uint32_t pid, flags, why, era;
	bool blind;          /* modules are not known here */
	const char *library; /* that others shall preload; NULL: none    */
	char entry[sizeof AS_WIRE_HEAP_ENV + AS_SOCKET_MAX + 24];
} born;

extern int Py_IsInitialized(void) __attribute__((weak, visibility("default")));

static uint32_t own_pid(void)
{
	return (uint32_t)as_sys3(SYS_getpid, 0, 0, 0);
}

/* Children must not find our state: without that we do not begin. */
static bool wiped_on_fork(void)
{
	return !as_sys3(SYS_madvise, (long)&as_guest, sizeof as_guest, MADV_WIPEONFORK);
}

/* Of a child's: its parent was recorded. Of a program's: the environment says so. */
static bool wanted(uint32_t pid)
{
	if (as_guest.attached)
		return true;
	if (born.pid)
		return born.flags & AS_WIRE_HEAP_FORKS;
	if (getauxval(AT_SECURE) || !as_environment_read(&born.to))
		return false;
	if (!born.to.pid || born.to.pid == (long)pid)
		return true;
	as_environment_leave();
	return false;
}

static uint32_t what_to_do(uint32_t flags)
{
	if (!(flags & (AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE)))
		flags |= Py_IsInitialized ? AS_WIRE_HEAP_PYTHON
			 : as_pyhost.late ? AS_WIRE_HEAP_PYTHON | AS_WIRE_HEAP_NATIVE
					  : AS_WIRE_HEAP_NATIVE;
	return flags;
}

static void fill(uint32_t pid)
{
	struct as_wire_heap *h = as_guest.heap;
	struct timespec ts = {0};

	as_sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	as_guest.nodes = (void *)((char *)h + h->nodes_at);
	as_guest.notes = (uint8_t *)h + h->notes_at;
	as_guest.flags = what_to_do(as_guest.session->flags);
	h->start_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	h->pid = pid;
	h->parent = born.pid;
	h->flags = as_guest.flags;
	h->why = born.why;
}

/* What others find of us, whom this process executes. */
static void invite(uint32_t pid)
{
	bool all = as_guest.flags & AS_WIRE_HEAP_FORKS;

	born.library = as_symbol_library();
	as_environment_entry(&born.to, all ? 0 : pid, born.entry, sizeof born.entry);
	if (!all)
		as_environment_set(born.entry);
}

static void remember(uint32_t pid)
{
	if (!born.pid && !as_guest.attached)
		invite(pid);
	born.pid = pid;
	born.flags = as_guest.flags;
}

void as_thread_renew(struct as_guest_thread *t)
{
	t->own = (struct as_writer){0};
	as_ring_forget(t);
	t->tries = 0;
	t->self = (uint64_t)pthread_self();
	t->drawn = t->random = 0;
	memset(t->name, 0, sizeof t->name);
	as_pywalk_end(t);
	as_native_end(t);
	t->era = as_guest.era;
}

/* What a child knows from its parent. */
static void look_around(void)
{
	as_record_begin();
	born.blind = !as_module_begin();
	if (as_next_is_inside())
		born.why = AS_WIRE_WHY_INSIDE;
}

/* With Python's stacks it is for what has none of them. */
static void begin_native(struct as_guest_thread *t)
{
	if (!born.blind)
		as_native_begin(t);
	else if (as_guest.flags & AS_WIRE_HEAP_NATIVE)
		as_guest.heap->why = AS_WIRE_WHY_UNWIND;
}

static bool start(struct as_guest_thread *t)
{
	uint32_t pid = own_pid();

	if (!wiped_on_fork() || !wanted(pid) ||
	    !as_connect(born.to.path, pid, born.pid, &as_guest.session, &as_guest.heap))
		return false;
	as_guest.era = ++born.era;
	as_thread_renew(t);
	if (!born.pid)
		look_around();
	fill(pid);
	remember(pid);
	if (!as_sample_begin() || !as_tree_begin())
		return false;
	as_pywalk_begin(t);
	if (Py_IsInitialized)
		as_python_appeared(NULL);
	begin_native(t);
	return true;
}

static bool is_plain(void)
{
	return !as_guest.samples && (as_guest.flags & AS_WIRE_HEAP_PYTHON) &&
	       !(as_guest.flags & AS_WIRE_HEAP_NATIVE);
}

static bool begin(struct as_guest_thread *t, uint32_t was)
{
	bool good;

	if (!atomic_compare_exchange_strong(&as_guest.phase, &was, AS_GUEST_BEGINS))
		return false;
	t->busy = 1;
	good = start(t);
	if (good)
		atomic_store(&as_guest.heap->state, AS_WIRE_HEAP_LIVE);
	atomic_store(&as_guest.phase, good ? AS_GUEST_RECORDS : AS_GUEST_OFF);
	atomic_store(&as_guest.plain, good && is_plain() ? as_guest.era : 0);
	t->busy = 0;
	return good;
}

void as_guest_forked(void)
{
	as_guest.forked = own_pid();
}

/* A child of vfork() is in its parent's memory: what began in it would go on in the parent. */
static bool is_borrowed(void)
{
	return as_guest.forked && as_guest.forked != own_pid();
}

bool as_guest_begin(struct as_guest_thread *t)
{
	if (atomic_load(&as_guest.phase) != AS_GUEST_UNKNOWN || !environ || t->busy ||
	    is_borrowed())
		return false;
	return begin(t, AS_GUEST_UNKNOWN);
}

/* --- later ------------------------------------------------------------------------------ */

/* What is of the collector that was there before. */
static void forget_last(void)
{
	as_guest.attached = true;
	as_guest.everybody = (struct as_writer){0};
	as_guest.nmodules = 0;
	memset(as_guest.noted, 0, sizeof as_guest.noted);
	atomic_fetch_add(&as_guest.unloads, 1); /* nobody told us of those since */
}

bool as_guest_begin_late(struct as_guest_thread *t, const char *path)
{
	size_t n = strnlen(path, sizeof born.to.path - 1);

	uint32_t was = atomic_load(&as_guest.phase);

	if (was != AS_GUEST_OFF && was != AS_GUEST_UNKNOWN)
		return false;
	memcpy(born.to.path, path, n);
	born.to.path[n] = '\0';
	born.to.pid = 0;
	born.pid = 0;
	forget_last();
	return begin(t, was);
}

bool as_guest_invites(bool child, struct as_invitation *ret)
{
	*ret = (struct as_invitation){.library = born.library,
				      .entry = born.entry,
				      .wanted = !child || (born.flags & AS_WIRE_HEAP_FORKS)};
	return born.pid && born.library;
}

bool as_guest_is_child(void)
{
	return own_pid() != born.pid;
}

void as_guest_unshare(void)
{
	as_disconnect(as_guest.session, as_guest.heap);
	as_sample_end();
}

/* --- the end ---------------------------------------------------------------------------- */

static void go(enum as_wire_heap_state state)
{
	atomic_store(&as_guest.heap->state, state);
	atomic_store(&as_guest.plain, 0);
	atomic_store(&as_guest.phase, AS_GUEST_OFF);
}

void as_guest_stop(void)
{
	go(AS_WIRE_HEAP_OVER);
}

void as_guest_leave(enum as_wire_heap_why why)
{
	as_guest.heap->why = why;
	go(AS_WIRE_HEAP_LEFT);
}

/* A program that never allocates is known nevertheless. */
__attribute__((constructor)) static void come(void)
{
	as_jump_begin();
	as_guest_begin(as_this_thread());
	if (atomic_load(&as_guest.phase) == AS_GUEST_RECORDS)
		as_got_begin();
}

/* Others' destructors may come after ours: what they do is recorded too. */
__attribute__((destructor)) static void end(void)
{
	if (atomic_load(&as_guest.phase) == AS_GUEST_RECORDS)
		atomic_store(&as_guest.heap->state, AS_WIRE_HEAP_OVER);
}
