/*
 * handlers CASE -- programs whose signals come at the worst moment.
 *
 *	leave     a timer's handler jumps out of whatever mmap() and munmap() do, 300 times
 *	overflow  a stack that is full: its handler, on a stack of its own, allocates and jumps out
 *	crash     a handler that is interrupted by its own crash
 *
 * Each then allocates 1009 blocks of 211 bytes, in two threads, and says so: who was
 * left in the middle of something must not hold up anybody.
 */
#include "work.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>
#include <sys/time.h>

enum { JUMPS = 300, BLOCKS = 1009, SIZE = 211, STACK = 256 << 10 };

static sigjmp_buf back;
static volatile sig_atomic_t inside, left;

static void jump_out(int sig)
{
	(void)sig;
	if (!inside)
		return;
	inside = 0;
	left = left + 1;
	siglongjmp(back, 1);
}

/* Both are calls of the kernel's: to leave them harms nobody. */
static void map_and_unmap(void)
{
	void *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		(void)munmap(p, 8192);
}

static void c_leave(void)
{
	struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

	(void)signal(SIGALRM, jump_out);
	(void)setitimer(ITIMER_REAL, &often, NULL);
	while (left < JUMPS) {
		if (sigsetjmp(back, 1))
			continue;
		inside = 1;
		map_and_unmap();
		inside = 0;
	}
	(void)setitimer(ITIMER_REAL, &never, NULL);
}

/* --- a stack that is full ------------------------------------------------------------ */

static volatile char *volatile deepest;

static void on_overflow(int sig)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)sig;
	if (p != MAP_FAILED)
		(void)munmap(p, 4096);
	siglongjmp(back, 1);
}

static int dive(int n)
{
	volatile char room[512];

	deepest = room;
	room[0] = (char)n;
	map_and_unmap();
	return n < 0 ? 0 : dive(n + 1) + room[0];
}

static void *overflow(void *arg)
{
	static char own[STACK];
	stack_t stack = {.ss_sp = own, .ss_size = sizeof(own)};
	struct sigaction act = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK | SA_NODEFER};

	(void)arg;
	if (sigaltstack(&stack, NULL) || sigaction(SIGSEGV, &act, NULL))
		fail("sigaltstack");
	if (!sigsetjmp(back, 1))
		(void)dive(0);
	(void)signal(SIGSEGV, SIG_DFL);
	return NULL;
}

static void c_overflow(void)
{
	pthread_attr_t small;
	pthread_t t;

	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, STACK);
	if (pthread_create(&t, &small, overflow, NULL))
		fail("pthread_create");
	(void)pthread_join(t, NULL);
}

/* --- a crash in a handler --------------------------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
	map_and_unmap();
	*(volatile int *)NULL = 1;
}

static void c_crash(void)
{
	struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGUSR1, on_signal);
	(void)raise(SIGUSR1);
}

/* --- afterwards --------------------------------------------------------------------------- */

static void *blocks(void *arg)
{
	(void)arg;
	for (int i = 0; i < BLOCKS; i++) {
		void *volatile p = malloc(SIZE);

		free(p);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	pthread_t other;

	if (!strcmp(name, "crash"))
		(void)blocks(NULL);
	if (!strcmp(name, "leave"))
		c_leave();
	else if (!strcmp(name, "overflow"))
		c_overflow();
	else if (!strcmp(name, "crash"))
		c_crash();
	else
		return 2;
	if (pthread_create(&other, NULL, blocks, NULL))
		fail("pthread_create");
	(void)blocks(NULL);
	(void)pthread_join(other, NULL);
	printf("%d\n", 2 * BLOCKS);
	return 0;
}
