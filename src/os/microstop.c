#include "os/microstop.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/calls.h"
#include "base/clock.h"

/* One that runs stops within microseconds; one that waits for a CPU is not waited for. */
static const int64_t patience = 5 * AS_MSEC;

struct task {
	pid_t tid;
	void (*work)(void *arg);
	void *arg;
	int64_t ns;
	bool done;
};

/*
 * Has it stopped? By a signal that came first, that one must be passed on. Its
 * end is not waited for: it may be a child of ours, and others want to know.
 */
static bool wait_stop(pid_t tid, int64_t until, int *ret_signal)
{
	const int how = WSTOPPED | WNOHANG | __WALL | __WNOTHREAD;
	siginfo_t info = {0};
	int r;

	while (!(r = waitid(P_PID, (id_t)tid, &info, how)) && !info.si_pid && as_now() < until)
		(void)sched_yield();
	if (r < 0 || info.si_pid != tid)
		return false;
	*ret_signal = info.si_status >> 8 ? 0 : info.si_status;
	return true;
}

static void *hold(void *arg)
{
	struct task *t = arg;
	int64_t start;
	int signal = 0;

	if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) < 0)
		return NULL;
	start = as_now();
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0 ||
	    !wait_stop(t->tid, start + patience, &signal))
		return NULL;
	t->work(t->arg);
	(void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)signal);
	t->ns = as_now() - start;
	t->done = true;
	return NULL;
}

bool as_microstop(pid_t tid, void (*work)(void *arg), void *arg, int64_t *ns)
{
	struct task t = {.tid = tid, .work = work, .arg = arg};
	pthread_t thread;
	sigset_t all, old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int os = pthread_create(&thread, NULL, hold, &t);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (os)
		return false;
	(void)pthread_join(thread, NULL);
	*ns += t.ns;
	return t.done;
}
