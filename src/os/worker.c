#include "os/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "os/env.h"
#include "os/futex.h"
#include "os/proc.h"

/* Signals are the engine's: none is for this thread, which inherits our mask. */
static int create(struct as_worker *w, void *(*work)(void *), void *data)
{
	sigset_t all, old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	int os = pthread_create(&w->thread, NULL, work, data);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return os;
}

int as_worker_start(struct as_worker *w, const char *name, void *(*work)(void *), void *data,
		    struct as_err *err)
{
	w->stop = eventfd(0, EFD_CLOEXEC);
	if (w->stop < 0)
		return as_fail_errno(err, errno, "eventfd");
	int os = create(w, work, data);
	if (os) {
		as_close_(&w->stop);
		return as_fail_errno(err, os, "start the thread '%s'", name);
	}
	(void)pthread_setname_np(w->thread, name);
	return AS_OK;
}

/* Whoever samples wakes often, and waiting on a word is a fifth cheaper than on a descriptor. */
bool as_worker_sleep(struct as_worker *w, int64_t until_ns)
{
	while (!as_worker_told(w) && as_now() < until_ns)
		as_futex_sleep(&w->stopping, 0, until_ns);
	return !as_worker_told(w);
}

bool as_worker_wait(struct as_worker *w, int fd)
{
	struct pollfd p[] = {{.fd = w->stop, .events = POLLIN}, {.fd = fd, .events = POLLIN}};

	while (poll(p, AS_LEN(p), -1) < 0 && errno == EINTR)
		;
	return !as_worker_told(w);
}

bool as_worker_told(struct as_worker *w)
{
	return atomic_load_explicit(&w->stopping, memory_order_relaxed);
}

void as_worker_tell(struct as_worker *w)
{
	uint64_t one = 1;

	atomic_store_explicit(&w->stopping, 1, memory_order_relaxed);
	as_futex_rouse(&w->stopping);
	(void)!write(w->stop, &one, sizeof one);
}

void as_worker_stop(struct as_worker *w)
{
	as_worker_tell(w);
	(void)pthread_join(w->thread, NULL);
	as_close_(&w->stop);
}

int64_t as_waited_for_cpu(const struct as_env *env)
{
	struct as_proc_sched sched;
	char text[80];
	struct as_err err;
	size_t n = 0;

	if (as_read_at(env->proc, "thread-self/schedstat", text, sizeof text, &n, &err) < 0 ||
	    !as_parse_sched(text, n, &sched))
		return 0;
	return sched.wait_ns;
}
