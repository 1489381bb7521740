#include "os/microstop.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "utest.h"

/* A process that counts, and nothing else. */
struct counter {
	pid_t pid;
	_Atomic uint64_t *n; /* shared with it */
};

static struct counter begin(void)
{
	struct counter c = {0};

	c.n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(c.n != MAP_FAILED);
	c.pid = fork();
	EXPECT(c.pid >= 0);
	for (int64_t end = as_now() + 60 * AS_SECOND; !c.pid && as_now() < end;)
		++*c.n;
	if (!c.pid)
		_exit(0);
	while (!*c.n)
		(void)sched_yield();
	return c;
}

static void expect_counts(const struct counter *c)
{
	uint64_t before = *c->n;

	for (int64_t end = as_now() + 30 * AS_SECOND; *c->n == before && as_now() < end;)
		(void)sched_yield();
	EXPECT(*c->n > before);
}

static void end(const struct counter *c)
{
	EXPECT(!kill(c->pid, SIGKILL));
	EXPECT(waitpid(c->pid, NULL, 0) == c->pid);
}

/* The count does not move while the work is done. */
struct work {
	const struct counter *c;
	int done, moved;
};

static void watch(void *arg)
{
	struct work *w = arg;
	uint64_t before = *w->c->n;

	for (int i = 0; i < 2000; i++)
		(void)sched_yield();
	w->moved += *w->c->n != before;
	w->done++;
}

static void t_stands_still_and_goes_on(void)
{
	struct counter c = begin();
	struct work w = {.c = &c};
	int64_t ns = 0;
	int stops = 0;

	for (int i = 0; i < 200 && stops < 20; i++)
		stops += as_microstop(c.pid, watch, &w, &ns);
	EXPECT(stops > 0 && w.done == stops && ns > 0);
	EXPECT_I64(w.moved, 0);
	expect_counts(&c);
	end(&c);
}

/* A signal that comes with the stop is not lost. */
static void t_signals_get_through(void)
{
	struct counter c = begin();
	struct work w = {.c = &c};
	int64_t ns = 0;
	int status = 0;

	(void)as_microstop(c.pid, watch, &w, &ns);
	EXPECT(!kill(c.pid, SIGTERM));
	(void)as_microstop(c.pid, watch, &w, &ns);
	EXPECT(waitpid(c.pid, &status, 0) == c.pid);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void t_nobody_to_stop(void)
{
	struct work w = {0};
	int64_t ns = 0;

	EXPECT(!as_microstop(getpid(), watch, &w, &ns)); /* ourselves */
	EXPECT(!as_microstop(INT32_MAX, watch, &w, &ns));
	EXPECT(!w.done && !ns);
}

UTEST_MAIN(T(t_stands_still_and_goes_on), T(t_signals_get_through), T(t_nobody_to_stop))
