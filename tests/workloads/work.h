#pragma once
/*
 * work -- what the workloads share.
 *
 * A workload is a tiny program that knows what it used and prints it as one
 * line of JSON when it ends. Its answer comes from its own arguments and its
 * own clocks, never from what assay reads: a truth is not the thing measured.
 * Every one of them ends by itself after a bounded time.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024L * 1024)

__attribute__((noreturn)) static inline void fail(const char *what)
{
	(void)fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static inline double clock_s(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) < 0)
		fail("clock_gettime");
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The argument at `i` as a number; `other` when there is none. */
static inline double number(int argc, char **argv, int i, double other)
{
	return i < argc ? strtod(argv[i], NULL) : other;
}

static inline void sleep_s(double s)
{
	struct timespec t = {.tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/*
 * Compute until this thread has used `s` more seconds of CPU, by its own
 * clock. The clock is a system call: it is asked once in many rounds, so that
 * nearly all of the time is in user code.
 */
static inline void burn_s(double s)
{
	double until = clock_s(CLOCK_THREAD_CPUTIME_ID) + s;
	volatile uint64_t x = 1;

	while (clock_s(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
}

/* Anonymous memory in small pages, every one of them touched. */
static inline char *touched(long bytes, int flags)
{
	char *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	(void)madvise(p, (size_t)bytes, MADV_NOHUGEPAGE);
	for (long i = 0; i < bytes; i += 4096)
		p[i] = (char)(i >> 12 | 1);
	return p;
}

static inline pid_t fork_or_fail(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	return pid;
}

static inline void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
}

enum { BLOCK = 65536 };

/* A new file, written through to its end. */
static inline int written(const char *path, const char *block, long bytes)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		fail("open");
	for (long i = 0; i < bytes; i += BLOCK)
		if (write(fd, block, BLOCK) != BLOCK)
			fail("write");
	return fd;
}

static inline void read_all(int fd, char *block, long bytes)
{
	for (long i = 0; i < bytes; i += BLOCK)
		if (pread(fd, block, BLOCK, i) != BLOCK)
			fail("read");
}
