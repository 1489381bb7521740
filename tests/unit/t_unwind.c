/* Every walk is held against the C library's own, backtrace(). */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>

#include "unwind/module.h"
#include "unwind/trail.h"
#include "utest.h"

enum { DEEP = 4096 };

struct rig {
	struct as_unwind u;
	struct as_trail trail;
	void *truth[DEEP];
	int ntruth;
	_Atomic uint32_t unloads;
	uint32_t checks;
	uint64_t stepped; /* frames that were walked anew */
};

static bool find(uint64_t pc, struct as_eh *ret)
{
	struct dl_find_object f;

	if (_dl_find_object((void *)(uintptr_t)pc, &f))
		return false;
	return as_eh_of_module(&(struct as_unwind_module){f.dlfo_map_start,
							  (uint64_t)((char *)f.dlfo_map_end -
								     (char *)f.dlfo_map_start),
							  f.dlfo_link_map->l_addr, f.dlfo_eh_frame},
			       ret);
}

static struct rig *rig_new(void)
{
	struct rig *r = calloc(1, sizeof *r);

	r->u.find = find;
	r->u.unloads = &r->unloads;
	return r;
}

static void walk_from(struct rig *r, struct as_unwind_regs regs, struct as_unwind_stack s)
{
	*as_trail_start(&r->trail) = regs;
	as_trail_walk(&r->trail, &r->u, &s);
}

static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	size_t size;
	void *low;

	EXPECT(!pthread_getattr_np(pthread_self(), &attr));
	EXPECT(!pthread_attr_getstack(&attr, &low, &size));
	pthread_attr_destroy(&attr);
	return (uintptr_t)low + size;
}

/* The truth from the caller of a function on: what is inside differs, a sanitizer's frame too. */
static void ask_truth(struct rig *r, void *caller)
{
	int n = backtrace(r->truth, DEEP), from = 0;

	while (from < n && r->truth[from] != caller)
		from++;
	EXPECT(from < n && from <= 4);
	r->ntruth = n - from;
	memmove(r->truth, r->truth + from, (size_t)r->ntruth * sizeof *r->truth);
}

static void compare(struct rig *r)
{
	struct as_trail *t = &r->trail;
	uint32_t n = t->n - 1; /* without the function that asked */

	EXPECT(t->whole);
	for (uint32_t i = 0; i < n && i < (uint32_t)r->ntruth; i++) {
		uint64_t got = t->frame[n - 1 - i].at.pc, want = (uintptr_t)r->truth[i];

		if (got != want && got + 1 != want)
			UTEST_FAIL("frame %u of %d is %#" PRIx64 ", want %#" PRIx64, i, r->ntruth,
				   got, want);
	}
	/* backtrace() also has a frame of nothing where a stack begins, or does not */
	EXPECT(n == (uint32_t)r->ntruth || n + 1 == (uint32_t)r->ntruth);
}

__attribute__((noinline)) static int check(void *arg)
{
	struct rig *r = arg;
	struct as_unwind_regs regs = as_unwind_here();
	struct as_unwind_stack s = {.here = {regs.sp, stack_end()}};

	s.home = s.here;
	walk_from(r, regs, s);
	ask_truth(r, __builtin_return_address(0));
	compare(r);
	r->checks++;
	r->stepped += r->trail.n - r->trail.same;
	return 0;
}

/* ── shapes of frames ─────────────────────────────────────────────────── */

__attribute__((noinline)) static int plain(struct rig *r, int n)
{
	volatile int keep = n; /* so that no call is the last thing that is done */

	return (n ? plain(r, n - 1) : check(r)) + keep;
}

__attribute__((noinline)) static int with_alloca(struct rig *r, size_t n)
{
	volatile char *room = __builtin_alloca(n);

	room[n - 1] = 1;
	return check(r) + room[n - 1];
}

/* The stack pointer is rounded down: the CFA is kept in memory. */
__attribute__((noinline)) static int aligned(struct rig *r, size_t n)
{
	_Alignas(256) volatile char room[256];
	volatile char *more = __builtin_alloca(n);

	room[0] = more[n - 1] = 1;
	return check(r) + room[0] + more[n - 1];
}

__attribute__((noinline)) static int large(struct rig *r)
{
	volatile char room[300000];

	room[0] = room[sizeof room - 1] = 1;
	return check(r) + room[0];
}

static void t_plain_frames(void)
{
	struct rig *r = rig_new();

	for (int n = 0; n < 40; n++)
		(void)plain(r, n);
	EXPECT_U64(r->checks, 40);
	free(r);
}

static void t_frames_of_any_size(void)
{
	struct rig *r = rig_new();

	for (size_t n = 1; n < 3000; n += 97) {
		(void)with_alloca(r, n);
		(void)aligned(r, n);
	}
	(void)large(r);
	EXPECT_U64(r->checks, 2 * 31 + 1);
	free(r);
}

static struct rig *compared; /* qsort() and handlers hand nothing on */

static int by_value(const void *a, const void *b)
{
	(void)check(compared);
	return *(const int *)a - *(const int *)b;
}

static void t_through_the_c_library(void)
{
	int v[64];

	compared = rig_new();
	for (int i = 0; i < 64; i++)
		v[i] = i * 37 % 64;
	qsort(v, 64, sizeof *v, by_value);
	EXPECT_I64(v[63], 63);
	EXPECT(compared->checks > 64);
	free(compared);
}

static void *thread_main(void *arg)
{
	(void)plain(arg, 5);
	return NULL;
}

static void t_a_thread(void)
{
	struct rig *r = rig_new();
	pthread_t t;

	EXPECT(!pthread_create(&t, NULL, thread_main, r));
	EXPECT(!pthread_join(t, NULL));
	EXPECT_U64(r->checks, 1);
	free(r);
}

static void on_signal(int sig)
{
	(void)sig;
	(void)plain(compared, 3);
}

static void t_a_signal(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	compared = rig_new();
	EXPECT(!sigaction(SIGUSR1, &act, NULL));
	EXPECT(!raise(SIGUSR1));
	EXPECT(!raise(SIGUSR1));
	EXPECT_U64(compared->checks, 2);
	free(compared);
}

/* From a stack of its own a handler leads back to the thread's. */
static uint64_t home_end;

static void on_own_stack(int sig)
{
	struct as_unwind_regs regs = as_unwind_here();
	uint64_t low = regs.sp & ~4095ull;
	struct as_unwind_stack s = {.here = {low, low + 8192}, .home = {0, home_end}};

	(void)sig;
	walk_from(compared, regs, s);
	ask_truth(compared, __builtin_return_address(0));
	compare(compared);
	compared->checks++;
}

static void t_a_signal_on_a_stack_of_its_own(void)
{
	struct sigaction act = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK};
	stack_t alt = {.ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		       .ss_size = 1 << 16};

	home_end = stack_end();
	compared = rig_new();
	EXPECT(!sigaltstack(&alt, NULL) && !sigaction(SIGUSR1, &act, NULL));
	EXPECT(!raise(SIGUSR1));
	EXPECT_U64(compared->checks, 1);
	free(compared);
}

static void t_a_module_that_comes_and_goes(void)
{
	struct rig *r = rig_new();

	for (int i = 0; i < 3; i++) {
		void *m = dlopen(UNWIND_MODULE, RTLD_NOW | RTLD_LOCAL);
		int (*call)(int (*)(void *), void *);

		EXPECT(m != NULL);
		void *sym = dlsym(m, "as_test_call");
		memcpy(&call, &sym, sizeof call);
		(void)call(check, r);
		dlclose(m);
		r->unloads++;
	}
	EXPECT_U64(r->checks, 3);
	free(r);
}

/* The loader may know a program by its segments: the one with the code has no headers. */
static void t_a_program_that_is_known_by_a_segment(void)
{
	struct dl_find_object f;
	struct as_eh whole, part;

	EXPECT(!_dl_find_object((void *)(uintptr_t)rig_new, &f));
	struct as_unwind_module m = {f.dlfo_map_start,
				     (uint64_t)((char *)f.dlfo_map_end - (char *)f.dlfo_map_start),
				     f.dlfo_link_map->l_addr, f.dlfo_eh_frame};
	EXPECT(as_eh_of_module(&m, &whole));
	m.start = (const void *)((uintptr_t)rig_new & ~4095ull);
	m.size = 4096;
	EXPECT(as_eh_of_module(&m, &part));
	EXPECT(part.address == whole.address && part.size == whole.size);
	m.bias += 4096;
	EXPECT(!as_eh_of_module(&m, &part));
}

/* ── what stays the same is not walked again ──────────────────────────── */

__attribute__((noinline)) static int twice(struct rig *r, int n)
{
	volatile int keep = n;

	if (n)
		return twice(r, n - 1) + keep;
	int a = check(r), b = check(r), c = plain(r, 2), d = check(r);
	return a + b + c + d + keep;
}

static void t_only_what_changed_is_walked(void)
{
	struct rig *r = rig_new();

	(void)twice(r, 200);
	EXPECT_U64(r->checks, 4);
	EXPECT(r->trail.n > 200);
	/* all of it once, then check and twice, then plain too, then check and twice */
	EXPECT(r->stepped < r->trail.n + 2 + 5 + 2 + 1);
	free(r);
}

/* The same registers, with another caller behind them. */
__attribute__((noinline)) static int left(struct rig *r, int n)
{
	volatile int keep = 1;

	return plain(r, n) + keep;
}

__attribute__((noinline)) static int right(struct rig *r, int n)
{
	volatile int keep = 2;

	return plain(r, n) + keep;
}

static void t_another_caller_is_seen(void)
{
	struct rig *r = rig_new();

	for (int i = 0; i < 50; i++)
		(void)(i % 3 ? left(r, i % 7) : right(r, i % 7));
	EXPECT_U64(r->checks, 50);
	free(r);
}

/* ── deep stacks ──────────────────────────────────────────────────────── */

__attribute__((noinline)) static int deep(struct rig *r, int n, uint32_t *ret_least)
{
	struct as_unwind_regs regs = as_unwind_here();
	struct as_unwind_stack s = {.here = {regs.sp, home_end}};
	volatile int keep = n;

	walk_from(r, regs, s);
	r->stepped += r->trail.n - r->trail.same;
	*ret_least = r->trail.n < *ret_least && n < DEEP - 600 ? r->trail.n : *ret_least;
	return (n ? deep(r, n - 1, ret_least) : 0) + keep;
}

static void t_a_deep_stack_is_cut_and_stays_cheap(void)
{
	uint32_t least = UINT32_MAX;
	struct rig *r = rig_new();

	home_end = stack_end();
	(void)deep(r, DEEP, &least);
	EXPECT(least >= AS_TRAIL_DEPTH / 2);
	EXPECT(!r->trail.whole);
	EXPECT(r->stepped < 8 * DEEP);
	(void)plain(r, 10); /* short again: it is whole again */
	EXPECT_U64(r->checks, 1);
	free(r);
}

/* ── hostile stacks ───────────────────────────────────────────────────── */

static void t_a_stack_of_noise(void)
{
	struct rig *r = rig_new();
	uint64_t noise[256], seed = 88172645463325252ull;
	uint64_t low = (uintptr_t)noise, high = low + sizeof noise;

	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < 256; i++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			noise[i] = seed % 3 == 0   ? low + seed % sizeof noise
				   : seed % 3 == 1 ? (uintptr_t)qsort + seed % 4096
						   : seed;
		}
		struct as_unwind_regs regs = {.pc = noise[0], .sp = low, .fp = noise[1]};
		struct as_unwind_stack s = {.here = {low, high}, .home = {low, high}};

		walk_from(r, regs, s);
		EXPECT(r->trail.n >= 1 && r->trail.n <= AS_TRAIL_DEPTH);
	}
	free(r);
}

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
/* backtrace() and fopen() in a handler: here it is known what they interrupt. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0";
}
#endif
#endif

UTEST_MAIN(T(t_plain_frames), T(t_frames_of_any_size), T(t_through_the_c_library), T(t_a_thread),
	   T(t_a_signal), T(t_a_signal_on_a_stack_of_its_own), T(t_a_module_that_comes_and_goes),
	   T(t_a_program_that_is_known_by_a_segment), T(t_only_what_changed_is_walked),
	   T(t_another_caller_is_seen), T(t_a_deep_stack_is_cut_and_stays_cheap),
	   T(t_a_stack_of_noise))
