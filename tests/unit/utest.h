#pragma once
/*
 * utest -- each test is a child process; a crash is one red line, not the end.
 *
 *	static void t_adds(void)
 *	{
 *		EXPECT_I64(1 + 1, 2);
 *	}
 *	UTEST_MAIN(T(t_adds))
 *
 * The program prints TAP. A test that hangs is killed after UTEST_SECONDS (a
 * file may define it before the include). Under LeakSanitizer each test that
 * leaks is red. Whatever a test started is killed and utest_dir() removed
 * when it ends.
 */
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef UTEST_SECONDS
#define UTEST_SECONDS 60
#endif

/* --- what a test says ------------------------------------------------------ */

#define UTEST_FAIL(...)                                                                            \
	do {                                                                                       \
		printf("# %s:%d: ", __FILE__, __LINE__);                                           \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
		fflush(stdout);                                                                    \
		_exit(1);                                                                          \
	} while (0)

#define EXPECT(cond)                                                                               \
	do {                                                                                       \
		if (!(cond))                                                                       \
			UTEST_FAIL("expected %s", #cond);                                          \
	} while (0)

#define UTEST_COMPARE(type, fmt, got, want)                                                        \
	do {                                                                                       \
		type got_ = (got), want_ = (want);                                                 \
		if (got_ != want_)                                                                 \
			UTEST_FAIL("%s is %" fmt ", want %" fmt, #got, got_, want_);               \
	} while (0)

#define EXPECT_U64(got, want) UTEST_COMPARE(uint64_t, PRIu64, got, want)
#define EXPECT_I64(got, want) UTEST_COMPARE(int64_t, PRId64, got, want)

/* Either may be NULL; NULL equals only NULL. */
#define EXPECT_STR(got, want)                                                                      \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (got_ != want_ && (!got_ || !want_ || strcmp(got_, want_) != 0))                \
			UTEST_FAIL("%s is\n#   \"%s\", want\n#   \"%s\"", #got,                    \
				   got_ ? got_ : "(null)", want_ ? want_ : "(null)");              \
	} while (0)

#define EXPECT_NEAR(got, want, tolerance)                                                          \
	do {                                                                                       \
		double got_ = (got), want_ = (want), tol_ = (tolerance);                           \
		if (!(fabs(got_ - want_) <= tol_))                                                 \
			UTEST_FAIL("%s is %.17g, want %.17g +- %g", #got, got_, want_, tol_);      \
	} while (0)

/* A call that must return 0 (AS_OK); `err` is the struct as_err it was given. */
#define EXPECT_OK(call, err)                                                                       \
	do {                                                                                       \
		int r_ = (call);                                                                   \
		if (r_ != 0)                                                                       \
			UTEST_FAIL("%s returned %d: %s", #call, r_, (err).msg);                    \
	} while (0)

#define SKIP(...)                                                                                  \
	do {                                                                                       \
		(void)snprintf(utest_shared->skip, sizeof utest_shared->skip, __VA_ARGS__);        \
		_exit(77);                                                                         \
	} while (0)

/* --- what a test may ask for ----------------------------------------------- */

struct utest_shared { /* one page, seen by the test and by its parent */
	char skip[256];
	char dir[256];
};

static struct utest_shared *utest_shared;

/*
 * A copy of text[0..n) that ends exactly at an unreadable page: reading one
 * byte past what a parser was given is a SIGSEGV here, under any build.
 */
static inline char *utest_edge(const void *text, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), span = (n + page) / page * page;
	char *m =
		mmap(NULL, span + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED || mprotect(m + span, page, PROT_NONE))
		abort();
	return memcpy(m + span - n, text, n);
}

/* A fresh empty directory, the same one for the whole test and all that it forks. */
static inline const char *utest_dir(void)
{
	return utest_shared->dir;
}

/* --- the runner ------------------------------------------------------------ */

struct utest {
	const char *name;
	void (*fn)(void);
};

extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static inline void utest_child(void (*fn)(void))
{
	(void)setpgid(0, 0); /* so that the parent can end all it started */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(UTEST_SECONDS);
	fn();
	fflush(stdout);
	if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check())
		UTEST_FAIL("memory leaked, see above");
	_exit(0);
}

/* Made before the test begins: children that made it when first asked for would race for it. */
static inline void utest_make_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(utest_shared->dir, sizeof utest_shared->dir, "%s/utest-XXXXXX",
		       tmp ? tmp : "/tmp");
	if (!mkdtemp(utest_shared->dir))
		abort();
}

static inline int utest_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static inline int utest_one(const struct utest *t, int number)
{
	int st = 0;

	memset(utest_shared, 0, sizeof *utest_shared);
	utest_make_dir();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		utest_child(t->fn);
	if (pid < 0 || waitpid(pid, &st, 0) < 0)
		abort();
	(void)kill(-pid, SIGKILL);
	(void)nftw(utest_shared->dir, utest_remove, 16, FTW_DEPTH | FTW_PHYS);

	int skip = WIFEXITED(st) && WEXITSTATUS(st) == 77;
	int ok = skip || (WIFEXITED(st) && WEXITSTATUS(st) == 0);
	if (WIFSIGNALED(st) && WTERMSIG(st) == SIGALRM)
		printf("# hung: no end after %d s\n", UTEST_SECONDS);
	else if (WIFSIGNALED(st))
		printf("# died of signal %d (%s)\n", WTERMSIG(st), strsignal(WTERMSIG(st)));
	else if (!ok && WEXITSTATUS(st) != 1) /* 1: an EXPECT has said why */
		printf("# exited with status %d\n", WEXITSTATUS(st));
	printf("%s %d - %s", ok ? "ok" : "not ok", number, t->name);
	if (skip)
		printf(" # SKIP %s", utest_shared->skip);
	printf("\n");
	return ok ? 0 : 1;
}

static inline int utest_run(const struct utest *t, int n)
{
	int bad = 0;

	utest_shared = mmap(NULL, sizeof *utest_shared, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (utest_shared == MAP_FAILED)
		abort();
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++)
		bad += utest_one(&t[i], i + 1);
	return bad ? 1 : 0;
}

/* clang-format off */
#define T(f) { #f, f }
/* clang-format on */
#define UTEST_MAIN(...)                                                                            \
	static const struct utest utests[] = {__VA_ARGS__};                                        \
	int main(void)                                                                             \
	{                                                                                          \
		return utest_run(utests, (int)(sizeof utests / sizeof *utests));                   \
	}
