#include "heap/arrivals.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/fault.h"

/* False: there is no memory, and the guest goes without us. */
static bool add(struct as_arrivals *a, struct as_member *m)
{
	(void)pthread_mutex_lock(&a->lock);
	bool there = as_grow(&a->member, &a->cap, a->n, sizeof *a->member, 16);

	if (there)
		a->member[a->n++] = m;
	(void)pthread_mutex_unlock(&a->lock);
	return there;
}

static int turn_away(struct as_arrivals *a, const struct as_err *why)
{
	(void)pthread_mutex_lock(&a->lock);
	if (!a->failed.code)
		a->failed = *why;
	(void)pthread_mutex_unlock(&a->lock);
	return why->code;
}

/* It is among the arrivals before it can do anything; from then on it is no longer ours. */
static int welcome(struct as_arrivals *a, int connection, pid_t pid, pid_t parent,
		   struct as_err *err)
{
	struct as_wire_welcome w = {AS_WIRE_HEAP_MAGIC, as_mapping_bytes()};
	struct as_member_config config = a->config;
	struct as_member *m;

	a->before(a->arg);
	config.pid = pid;
	config.parent = parent;
	config.now_ns = as_now();
	int r = as_member_new(&config, &m, err);

	if (r < 0)
		return turn_away(a, err);
	as_auto_fd int mapping = fcntl(m->mapping.fd, F_DUPFD_CLOEXEC, 0);

	m->mapping.heap->seed = a->config.seed ? a->config.seed + a->welcomed++ : 0;

	if (mapping < 0 || !add(a, m)) {
		as_member_free(m);
		(void)as_fail(err, AS_ENOMEM, "no memory or descriptor for another process");
		return turn_away(a, err);
	}
	return as_guestdoor_answer(connection, &w, sizeof w, (int[]){a->page, mapping}, err);
}

static void *work(void *arg)
{
	struct as_arrivals *a = arg;

	while (as_worker_wait(&a->worker, a->door.fd)) {
		struct as_wire_hello hello;
		struct as_err err;
		pid_t pid;
		as_auto_fd int connection =
			as_guestdoor_accept(&a->door, &hello, sizeof hello, &pid);

		if (connection >= 0 && hello.magic == AS_WIRE_HEAP_MAGIC)
			(void)welcome(a, connection, pid, (pid_t)hello.parent, &err);
		else /* perhaps for want of descriptors, which come back */
			(void)as_worker_sleep(&a->worker, as_now() + AS_MSEC);
	}
	return NULL;
}

int as_arrivals_open(struct as_arrivals *a, const struct as_member_config *config, int page,
		     struct as_err *err)
{
	a->config = *config;
	a->page = page;
	(void)pthread_mutex_init(&a->lock, NULL);
	int r = as_guestdoor_open(&a->door, err);

	if (r < 0)
		return r;
	r = as_worker_start(&a->worker, "assay-door", work, a, err);
	if (r < 0)
		as_guestdoor_close(&a->door);
	a->open = r == AS_OK;
	return r;
}

struct as_member *as_arrivals_take(struct as_arrivals *a)
{
	struct as_member *m = NULL;

	(void)pthread_mutex_lock(&a->lock);
	if (a->n) {
		m = a->member[0];
		memmove(a->member, a->member + 1, --a->n * sizeof m);
	}
	(void)pthread_mutex_unlock(&a->lock);
	return m;
}

int as_arrivals_failed(struct as_arrivals *a, struct as_err *err)
{
	(void)pthread_mutex_lock(&a->lock);
	int r = a->failed.code;

	if (r < 0)
		*err = a->failed;
	a->failed.code = AS_OK;
	(void)pthread_mutex_unlock(&a->lock);
	return r;
}

void as_arrivals_shut(struct as_arrivals *a)
{
	if (!a->open)
		return;
	as_worker_stop(&a->worker);
	as_guestdoor_close(&a->door);
	a->open = false;
}

void as_arrivals_done(struct as_arrivals *a)
{
	as_arrivals_shut(a);
	for (size_t i = 0; i < a->n; i++)
		as_member_free(a->member[i]);
	free(a->member);
	(void)pthread_mutex_destroy(&a->lock);
	*a = (struct as_arrivals){.open = false};
}
