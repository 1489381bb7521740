/*
 * allocs CASE... -- programs whose every allocation is known (allocs.h): numbers
 * and sizes are primes, so that no sum of some is another's. The cases are in
 * the table at the end; several are done one after the other.
 */
#include "allocs.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

#define KNOWN __attribute__((noinline)) /* a function that is somebody's caller */

enum { PAGE = 4096, MANY = 1009 };

KNOWN static void *by_malloc(size_t n)
{
	return MADE(malloc(n), n);
}

KNOWN static void *by_calloc(size_t n, size_t size)
{
	return MADE(calloc(n, size), n * size);
}

KNOWN static void *by_realloc(void *old, size_t n)
{
	if (old)
		GONE(old);
	return MADE(realloc(old, n), n);
}

KNOWN static void *by_reallocarray(void *old, size_t n, size_t size)
{
	if (old)
		GONE(old);
	return MADE(reallocarray(old, n, size), n * size);
}

KNOWN static void *by_posix_memalign(size_t align, size_t n)
{
	void *p = NULL;

	return MADE(posix_memalign(&p, align, n) ? NULL : p, n);
}

KNOWN static void *by_aligned_alloc(size_t align, size_t n)
{
	return MADE(aligned_alloc(align, n), n);
}

KNOWN static void *by_memalign(size_t align, size_t n)
{
	return MADE(memalign(align, n), n);
}

KNOWN static void *by_valloc(size_t n)
{
	return MADE(valloc(n), n);
}

KNOWN static char *by_mmap(size_t n)
{
	return MADE(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), n);
}

KNOWN static void *by_sbrk(intptr_t n)
{
	return MADE(sbrk(n), (size_t)n);
}

static void give(void *p)
{
	GONE(p);
	free(p);
}

/* --- the malloc family -------------------------------------------------------- */

static void c_malloc(void)
{
	void *p[MANY];

	for (int i = 0; i < MANY; i++)
		p[i] = by_malloc(37);
	for (int i = 0; i < 701; i++)
		give(p[i]);
	free(NULL); /* is nothing */
	give(by_malloc(0));
}

static void c_calloc(void)
{
	for (int i = 0; i < 103; i++)
		give(by_calloc(7, 53));
	(void)by_calloc(3, 19);
}

static void c_realloc(void)
{
	volatile size_t much = SIZE_MAX / 2;
	char *p = by_realloc(NULL, 131);

	for (size_t n = 139; n < 200000; n = n * 3 / 2 + 1)
		p = by_realloc(p, n);
	for (size_t n = 100003; n > 300; n /= 2)
		p = by_realloc(p, n);
	GONE(p);
	p = realloc(p, 0); /* gives back, and allocates nothing */
	if (p)
		fail("realloc to 0");
	p = by_reallocarray(NULL, 11, 13);
	p = by_reallocarray(p, 17, 19);
	give(p);
	p = by_malloc(41);
	if (realloc(p, much)) /* fails: the block stays */
		fail("realloc to very much");
	give(p);
}

static void c_aligned(void)
{
	for (int i = 0; i < 29; i++) {
		give(by_posix_memalign(64, 211));
		give(by_aligned_alloc(256, 1024));
		give(by_memalign(128, 307));
		give(by_valloc(401));
	}
	(void)by_posix_memalign(4096, 503);
}

static void c_fails(void)
{
	volatile size_t much = SIZE_MAX / 2;
	void *volatile p = malloc(much);

	if (p || calloc(much, 3) || reallocarray(NULL, much, 3))
		fail("what cannot be was there");
}

/* --- mappings ----------------------------------------------------------------- */

static void unmap(char *p, size_t from, size_t n)
{
	alloc_cut(p, n);
	if (munmap(p + from, n))
		fail("munmap");
}

static void c_mmap(void)
{
	char *p = by_mmap(13 * PAGE), *q = by_mmap(7 * PAGE);

	GONE(q);
	if (munmap(q, 7 * PAGE))
		fail("munmap");
	unmap(p, 0, 2 * PAGE);         /* its beginning */
	unmap(p, 11 * PAGE, 2 * PAGE); /* its end       */
	unmap(p, 5 * PAGE, 3 * PAGE);  /* its middle    */
}

/* --- address space that is only spoken for ---------------------------------------- */

enum { FIXED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED };

static void protect(char *p, size_t n, int prot)
{
	if (mprotect(p, n, prot))
		fail("mprotect");
}

static char *reserve(char *at, size_t n)
{
	char *p = mmap(at, n, PROT_NONE, FIXED & ~(at ? 0 : MAP_FIXED), -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* From `p` on, of which the first bytes are open already. */
KNOWN static void *by_mprotect(char *p, size_t open, size_t n)
{
	return MADE(mprotect(p, open + n, PROT_READ | PROT_WRITE) ? NULL : p + open, n);
}

KNOWN static void *by_fixed(char *p, size_t n)
{
	return MADE(mmap(p, n, PROT_READ | PROT_WRITE, FIXED, -1, 0), n);
}

static void c_reserve(void)
{
	char *p = reserve(NULL, 64ul << 30);
	char *a = by_mprotect(p, 0, 13 * PAGE), *b = by_mprotect(p + 31 * PAGE, 0, 7 * PAGE);
	char *c = by_fixed(p + 101 * PAGE, 19 * PAGE), *block = by_aligned_alloc(PAGE, 17 * PAGE);

	protect(a, 13 * PAGE, PROT_READ); /* it is there already */
	protect(a, 13 * PAGE, PROT_READ | PROT_WRITE);
	(void)by_mprotect(a, 13 * PAGE, 5 * PAGE);
	protect(block, PAGE, PROT_NONE); /* a block is a block */
	protect(block, PAGE, PROT_READ | PROT_WRITE);
	give(block);
	GONE(b);
	(void)reserve(b, 7 * PAGE);
	(void)by_mprotect(b, 0, 3 * PAGE);
	unmap(c, 2 * PAGE, 11 * PAGE);
	if (munmap(p + (1ul << 30), 1ul << 30)) /* what was never used */
		fail("munmap");
}

/* --- the break ------------------------------------------------------------------ */

static void c_brk(void)
{
	char *p = by_sbrk(17 * PAGE);

	alloc_cut(p, 5 * PAGE);
	if (sbrk(-5 * PAGE) == (void *)-1)
		fail("sbrk");
}

/* --- what is asked of a heap profiler ------------------------------------------ */

/* For 5 ms there is much more than ever else. */
static void c_peak(void)
{
	void *p[97];

	give(by_malloc(1000003));
	for (int i = 0; i < 97; i++)
		p[i] = by_malloc(500009);
	sleep_s(0.005);
	for (int i = 0; i < 97; i++)
		give(p[i]);
	give(by_calloc(1, 2000003));
}

KNOWN static void *by_leak(size_t n)
{
	return MADE(malloc(n), n);
}

static void c_leak(void)
{
	for (int i = 0; i < 211; i++) {
		void *volatile lost = by_leak(1013);

		(void)lost;
	}
}

static void c_temporary(void)
{
	for (int i = 0; i < 1511; i++)
		give(by_malloc(61));
}

/* Freed after one more, and after none. */
static void c_brief(void)
{
	for (int i = 0; i < 101; i++) {
		void *first = by_malloc(67), *second = by_calloc(1, 73);

		give(first);
		give(second);
	}
}

static void c_deep(void)
{
	give(by_malloc(71));
}

KNOWN static int down(int left)
{
	volatile int deeper = 0; /* or a compiler makes a loop of it */

	if (left)
		deeper = down(left - 1);
	else
		c_deep();
	return deeper + 1;
}

static void c_recursion(void)
{
	for (int i = 0; i < 53; i++)
		if (down(500) != 501)
			fail("recursion");
}

/* --- threads -------------------------------------------------------------------- */

struct lane {
	pthread_barrier_t *meet;
	void *block[23];
};

KNOWN static void *thread_makes(void *arg)
{
	struct lane *l = arg;

	for (int i = 0; i < 23; i++)
		l->block[i] = by_malloc(2003);
	(void)pthread_barrier_wait(l->meet);
	return NULL;
}

/* Blocks of 5 threads are given back by another one, when they are gone. */
static void c_threads(void)
{
	pthread_t thread[5];
	struct lane lane[5];
	pthread_barrier_t meet;

	(void)pthread_barrier_init(&meet, NULL, 5);
	for (int i = 0; i < 5; i++) {
		lane[i].meet = &meet;
		if (pthread_create(&thread[i], NULL, thread_makes, &lane[i]))
			fail("pthread_create");
	}
	for (int i = 0; i < 5; i++) {
		(void)pthread_join(thread[i], NULL);
		for (int k = 0; k < 23; k++)
			give(lane[i].block[k]);
	}
}

KNOWN static void *thread_churns(void *arg)
{
	void *p[3];

	(void)arg;
	for (int i = 0; i < 101; i++) {
		for (int k = 0; k < 3; k++)
			p[k] = by_malloc(251);
		for (int k = 0; k < 3; k++)
			give(p[k]);
	}
	return NULL;
}

/* A thousand at a time, and more one after the other than there can be rings. */
static void c_crowd(void)
{
	pthread_t thread[1000];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++)
			if (pthread_create(&thread[i], NULL, thread_churns, NULL))
				fail("pthread_create");
		for (int i = 0; i < 1000; i++)
			(void)pthread_join(thread[i], NULL);
	}
}

/* --- processes ------------------------------------------------------------------ */

static void child(void *inherited)
{
	alloc_forget();
	free(inherited);
	for (int i = 0; i < 59; i++)
		give(by_calloc(1, 3001));
	(void)by_malloc(4001);
	alloc_tell();
	_exit(0);
}

static void children(int n)
{
	void *inherited = by_malloc(1511);

	for (int i = 0; i < n; i++) {
		pid_t pid = fork_or_fail();

		if (!pid)
			child(inherited);
		wait_for(pid);
	}
	give(inherited);
}

static void c_fork(void)
{
	children(1);
}

static void c_forks20(void)
{
	children(20);
}

static void c_forks300(void)
{
	children(300);
}

static void c_forks1000(void)
{
	children(1000);
}

static void c_exec(void)
{
	(void)by_malloc(47);
	(void)execl("/proc/self/exe", "allocs", "leak", NULL);
	fail("exec");
}

static void c_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		(void)execl("/proc/self/exe", "allocs", "leak", NULL);
		_exit(97);
	}
	wait_for(pid);
	give(by_malloc(43));
}

/* --- libraries ------------------------------------------------------------------ */

KNOWN static void *by_library(void *(*strange)(size_t), size_t n)
{
	return MADE(strange(n), n);
}

/* One that was not there at the start, beside the program; loading it is no doing of ours. */
static void c_library(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;

	if (!slash)
		fail("readlink");
	memcpy(slash, "/libstrange.so", 15);
	for (int round = 0; round < 2; round++) {
		void *l = dlopen(path, RTLD_NOW);
		void *(*strange)(size_t) = l ? (void *(*)(size_t))dlsym(l, "strange_alloc") : NULL;

		if (!strange)
			fail("dlopen");
		for (int i = 0; i < 31; i++)
			give(by_library(strange, 5003));
		(void)dlclose(l);
	}
}

/* --- ends ------------------------------------------------------------------------ */

static void c_abort(void)
{
	(void)by_malloc(7001);
	alloc_tell();
	abort();
}

static void on_signal(int sig)
{
	(void)sig;
	abort();
}

/* A crash, and another one in its handler. */
static void c_crash(void)
{
	(void)by_malloc(7013);
	alloc_tell();
	(void)signal(SIGSEGV, on_signal);
	(void)raise(SIGSEGV);
}

/* It is there and does nothing more, until it is killed. */
static void c_wait(void)
{
	(void)by_malloc(7019);
	alloc_tell();
	sleep_s(60);
}

static void c_exit7(void)
{
	(void)by_malloc(7027);
	alloc_tell();
	_exit(7);
}

/* More than fits into any ring, for as long as it takes. */
static void c_churn(void)
{
	for (int i = 0; i < 300007; i++)
		give(by_malloc((size_t)(i % 251) + 1));
}

/* It takes 2 s, whatever becomes of others meanwhile. */
static void c_slow(void)
{
	for (int i = 0; i < 101; i++) {
		(void)by_malloc(7039);
		sleep_s(0.02);
	}
}

/* Sizes from 1 byte to many MiB, as many bytes of each magnitude; a third of them stays. */
static void c_mixed(void)
{
	uint32_t x = 2463534242u;

	for (int i = 0; i < 60013; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		unsigned bits = (unsigned)__builtin_clz(x | 1 << 13) % 19;
		void *p = i % 2 ? by_malloc((x >> 8) % (128u << bits) + 1)
				: by_calloc(1, (x >> 8) % 4093 + 1);

		if (i % 3)
			give(p);
	}
}

/* Many small ones, held until all are there; two thirds of them go while others come and go. */
static void c_tide(void)
{
	enum { HELD = 30011 };
	static void *held[HELD];
	uint32_t x = 2463534242u;

	for (int i = 0; i < 2 * HELD; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		void *p = i % 2 ? by_malloc((x >> 8) % 700 + 1) : by_calloc(1, (x >> 8) % 90 + 1);

		if (i < HELD) {
			held[i] = p;
			continue;
		}
		give(p);
		if (i % 3)
			give(held[i - HELD]);
	}
}

/* Memory that there is no more of. */
static void c_limit(void)
{
	struct rlimit most = {.rlim_cur = 200 * MIB, .rlim_max = 200 * MIB};
	void *p = by_malloc(61), *volatile more = p;

	if (setrlimit(RLIMIT_AS, &most))
		fail("setrlimit");
	for (int i = 0; more && i < 1000; i++)
		more = malloc(1000003);
	give(p);
	if (more)
		fail("the limit was not there");
}

static const struct {
	const char *name;
	void (*act)(void);
} cases[] = {
	{"malloc", c_malloc},       {"calloc", c_calloc},
	{"realloc", c_realloc},     {"aligned", c_aligned},
	{"fails", c_fails},         {"mmap", c_mmap},
	{"reserve", c_reserve},     {"brk", c_brk},
	{"peak", c_peak},           {"leak", c_leak},
	{"temporary", c_temporary}, {"brief", c_brief},
	{"recursion", c_recursion}, {"threads", c_threads},
	{"crowd", c_crowd},         {"fork", c_fork},
	{"forks20", c_forks20},     {"forks300", c_forks300},
	{"forks1000", c_forks1000}, {"exec", c_exec},
	{"vfork", c_vfork},         {"library", c_library},
	{"abort", c_abort},         {"crash", c_crash},
	{"wait", c_wait},           {"exit7", c_exit7},
	{"churn", c_churn},         {"slow", c_slow},
	{"mixed", c_mixed},         {"limit", c_limit},
	{"tide", c_tide},
};

static void act(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].act();
			return;
		}
	errno = EINVAL;
	fail(name);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		act(argv[i]);
	alloc_tell();
	return 0;
}
