/*
 * attachee -- does what each line of its input says, and says when it is done: a
 * program that is attached to at a moment that the test knows.
 *
 *	make N SIZE     N blocks more, by by_make()
 *	drop N          the last N of them are given back
 *	early N         N of those from before the first line are given back
 *	grow            one of these is made larger
 *	map             a mapping of 64 KiB comes and goes
 *	load FILE       a library: its strange_alloc() makes 5 blocks of 5003 bytes
 *	churn N         N threads that allocate and free until `calm`
 *	calm            they end
 *	fork            a child that makes a block, and its exit status
 *	strict          from now on under strict seccomp
 *	filter          from now on under a filter of system calls, which lets all through
 *	hide            it may not be looked into, from now on
 *	spin N          N ms of work without a call, then what floating point made of it
 */
#include <dlfcn.h>
#include <pthread.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "work.h"

enum { EARLY = 50, MOST = 100000, THREADS = 16, BLOCKS = 64 };

static void *early[EARLY], *made[MOST];
static int nearly = EARLY, nmade, nthreads;
static atomic_int calm, wrong;
static pthread_t thread[THREADS];

__attribute__((noinline)) static void *by_make(size_t size)
{
	return memset(malloc(size), 1, size);
}

__attribute__((noinline)) static void by_churn(unsigned char **block, unsigned char mark)
{
	size_t size = 16 + (size_t)mark * 7;

	if (*block && (*block)[0] != mark)
		wrong++;
	free(*block);
	*block = memset(malloc(size), mark, size);
}

static void *churn(void *arg)
{
	unsigned char *block[BLOCKS] = {0};

	for (unsigned i = 0; !calm; i++)
		by_churn(&block[i % BLOCKS], (unsigned char)(i % BLOCKS + 1));
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	return arg;
}

static void start_threads(int n)
{
	calm = 0;
	for (nthreads = 0; nthreads < n && nthreads < THREADS; nthreads++)
		if (pthread_create(&thread[nthreads], NULL, churn, NULL))
			fail("pthread_create");
}

static void end_threads(void)
{
	calm = 1;
	while (nthreads)
		pthread_join(thread[--nthreads], NULL);
}

static void load(const char *file)
{
	void *handle = dlopen(file, RTLD_NOW);
	void *(*alloc)(size_t) = NULL;

	if (handle)
		*(void **)&alloc = dlsym(handle, "strange_alloc");
	for (int i = 0; alloc && i < 5; i++)
		made[nmade++] = alloc(5003);
	printf("%s\n", alloc ? "loaded" : dlerror());
}

static void fork_one(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		free(by_make(999));
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("status %d\n", WEXITSTATUS(status));
}

static void filter(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &all};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("prctl");
}

/* Sums that a register more or less would change. */
static void spin(long ms)
{
	double until = clock_s(CLOCK_MONOTONIC) + (double)ms / 1000, x = 1, y = 0;

	do
		for (int i = 0; i < 20000; i++) {
			x = x * 3.9 * (1 - x / 4);
			y += 1;
		}
	while (clock_s(CLOCK_MONOTONIC) < until);
	printf("%s\n", x > 0 && x < 4 && (long)y % 20000 == 0 ? "sane" : "mad");
}

static void map(void)
{
	void *p = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, 65536);
}

static void obey(const char *word, long n, long size, const char *file)
{
	if (!strcmp(word, "make"))
		for (; n > 0 && nmade < MOST; n--)
			made[nmade++] = by_make((size_t)size);
	else if (!strcmp(word, "drop"))
		for (; n > 0 && nmade; n--)
			free(made[--nmade]);
	else if (!strcmp(word, "early"))
		for (; n > 0 && nearly; n--)
			free(early[--nearly]);
	else if (!strcmp(word, "grow"))
		early[0] = realloc(early[0], 20011);
	else if (!strcmp(word, "map"))
		map();
	else if (!strcmp(word, "load"))
		load(file);
	else if (!strcmp(word, "churn"))
		start_threads((int)n);
	else if (!strcmp(word, "calm"))
		end_threads();
	else if (!strcmp(word, "fork"))
		fork_one();
	else if (!strcmp(word, "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else if (!strcmp(word, "filter"))
		filter();
	else if (!strcmp(word, "hide"))
		prctl(PR_SET_DUMPABLE, 0);
	else if (!strcmp(word, "spin"))
		spin(n);
}

int main(void)
{
	char line[4096], word[16], file[4000];
	long n, size;

	alarm(300);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < EARLY; i++)
		early[i] = by_make(1009);
	printf("ready\n");
	while (fgets(line, sizeof line, stdin)) {
		n = size = 0;
		if (sscanf(line, "%15s %3999s", word, file) < 1)
			break;
		(void)sscanf(line, "%*s %ld %ld", &n, &size);
		obey(word, n, size, file);
		printf("done %s wrong %d\n", word, (int)wrong);
	}
	end_threads();
	return wrong ? 1 : 0;
}
