/* The native stacks of a guest, in a process that is a guest of nobody. */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>

#include "preload/guest.h"
#include "utest.h"

/* ── what the rest of the guest would do ──────────────────────────────── */

enum { NODES = 1 << 16, DEEP = 4096 };

static struct as_wire_heap wire;
static struct as_wire_node nodes[NODES];
static _Atomic uint32_t nnodes = 1, lookups;

_Alignas(AS_GUEST_PAGE) struct as_guest as_guest = {.heap = &wire};
_Thread_local struct as_guest_thread as_guest_thread;

void *as_guest_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void as_guest_pages_back(void *pages, size_t bytes)
{
	if (pages)
		(void)munmap(pages, bytes);
}

uint64_t as_module_key_slowly(uint64_t address)
{
	return address;
}

bool as_module_at(uint64_t address, struct as_guest_module *ret)
{
	struct dl_find_object f;

	if (_dl_find_object((void *)(uintptr_t)address, &f))
		return false;
	*ret = (struct as_guest_module){(uintptr_t)f.dlfo_map_start, (uintptr_t)f.dlfo_map_end,
					f.dlfo_link_map->l_addr, f.dlfo_eh_frame};
	return true;
}

uint32_t as_tree_child(uint32_t caller, uint64_t key)
{
	uint32_t n = nnodes;

	lookups++;
	for (uint32_t i = n > 2000 ? n - 2000 : 1; i < n; i++)
		if (nodes[i].key == key && nodes[i].caller == caller)
			return i;
	EXPECT(n < NODES);
	nodes[n] = (struct as_wire_node){.key = key, .caller = caller};
	return nnodes++;
}

/* ── a hook, and what its stack must be ───────────────────────────────── */

static uint32_t last;

static void compare(uint32_t node, void **truth, int n)
{
	for (int i = 0; i < n && node; i++, node = nodes[node].caller)
		if (nodes[node].key + 1 != (uintptr_t)truth[i])
			UTEST_FAIL("frame %d is %#" PRIx64 ", want %#" PRIx64, i, nodes[node].key,
				   (uint64_t)(uintptr_t)truth[i] - 1);
	EXPECT(!node);
}

/* A stack of ours begins with the hook's caller. */
__attribute__((noinline)) static int hook(int n)
{
	void *truth[DEEP], *caller = __builtin_return_address(0);
	int all = backtrace(truth, DEEP), from = 0;

	while (from < all && truth[from] != caller)
		from++;
	last = as_native_walk(&as_guest_thread, __builtin_frame_address(0));
	EXPECT(last && from < all);
	compare(last, truth + from, all - from);
	return n;
}

__attribute__((noinline)) static int level(int n)
{
	volatile int keep = n;

	return (n ? level(n - 1) : hook(n)) + keep;
}

static void t_the_callers_of_a_hook(void)
{
	as_native_begin(&as_guest_thread);
	for (int n = 0; n < 30; n++)
		(void)level(n % 11);
	as_native_end(&as_guest_thread);
	EXPECT(!as_guest_thread.native);
}

__attribute__((noinline)) static int loop(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += hook(i);
	return sum;
}

static void t_a_stack_that_stays_is_not_looked_up(void)
{
	uint32_t before = 0, node = 0;
	volatile int times = 2; /* one call, not two that look alike */

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
	SKIP("what a sanitizer puts on the stack is not what was there before");
#endif
#endif
	as_native_begin(&as_guest_thread);
	for (int i = 0; i < times; i++) {
		before = lookups;
		node = last;
		(void)loop(1000);
	}
	EXPECT_U64(last, node);
	EXPECT(lookups < before + 4);
}

static void *thread_main(void *arg)
{
	(void)level(7);
	as_native_end(&as_guest_thread);
	return arg;
}

static void t_threads(void)
{
	as_native_begin(&as_guest_thread);
	for (int i = 0; i < 5; i++) {
		pthread_t t;

		EXPECT(!pthread_create(&t, NULL, thread_main, NULL));
		EXPECT(!pthread_join(t, NULL));
		(void)level(3);
	}
}

/* ── stacks that are not the thread's ─────────────────────────────────── */

static ucontext_t outside, inside;
static int turns;

static void coroutine(void)
{
	for (;;) {
		(void)level(turns % 5);
		EXPECT(!swapcontext(&inside, &outside));
	}
}

static void t_a_coroutine_has_a_stack_of_its_own(void)
{
	enum { SIZE = 1 << 18 };
	char *m = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	as_native_begin(&as_guest_thread);
	EXPECT(m != MAP_FAILED && !getcontext(&inside));
	inside.uc_stack = (stack_t){.ss_sp = m, .ss_size = SIZE};
	makecontext(&inside, coroutine, 0);
	for (turns = 0; turns < 20; turns++) {
		EXPECT(!swapcontext(&outside, &inside));
		(void)level(turns % 3);
	}
}

static void t_a_child_begins_anew(void)
{
	int status;

	as_native_begin(&as_guest_thread);
	(void)level(4);
	pid_t pid = fork();
	if (!pid) {
		nnodes = 1;
		as_native_begin(&as_guest_thread);
		(void)level(4);
		_exit(nnodes > 5 ? 0 : 1);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
}

/* ── deep ones ────────────────────────────────────────────────────────── */

__attribute__((noinline)) static int recurse(int n)
{
	volatile int keep = n;

	EXPECT(as_native_walk(&as_guest_thread, __builtin_frame_address(0)));
	return (n ? recurse(n - 1) : 0) + keep;
}

static void t_recursion_costs_a_node_a_level(void)
{
	enum { LEVELS = 8000 };

	as_native_begin(&as_guest_thread);
	(void)recurse(LEVELS);
	EXPECT(nnodes < 4 * LEVELS);
	EXPECT(wire.clipped > LEVELS / 2);
	(void)level(3);
}

UTEST_MAIN(T(t_the_callers_of_a_hook), T(t_a_stack_that_stays_is_not_looked_up), T(t_threads),
	   T(t_a_coroutine_has_a_stack_of_its_own), T(t_a_child_begins_anew),
	   T(t_recursion_costs_a_node_a_level))
