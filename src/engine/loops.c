#include "engine/loops.h"

#include "base/clock.h"
#include "base/fault.h"
#include "os/prompt.h"
#include "os/worker.h"

struct as_looper {
	struct as_loop_watch watch;
	struct as_worker worker;
};

static void *work(void *data)
{
	struct as_looper *l = data;

	as_prompt_moments();
	for (int64_t next = 0; as_worker_sleep(&l->worker, next);)
		next = as_loop_look(&l->watch, as_now());
	return NULL;
}

static void looper_free(struct as_looper *l)
{
	if (!l)
		return;
	as_loop_close(&l->watch);
	free(l);
}

static void looper_free_(struct as_looper **l)
{
	looper_free(*l);
}

int as_looper_start(struct as_looper **ret, const struct as_env *env, pid_t pid,
		    struct as_loops *to, struct as_err *err)
{
	as_cleanup(looper_free_) struct as_looper *l = as_zalloc(sizeof *l);

	if (!l)
		return as_fail(err, AS_ENOMEM, "no memory to watch loops");
	int r = as_loop_open(&l->watch, env, pid, to, err);
	if (r == AS_OK)
		r = as_worker_start(&l->worker, "assay-loops", work, l, err);
	if (r == AS_OK)
		*ret = as_take(l);
	return r;
}

void as_looper_finish(struct as_looper *l)
{
	if (!l)
		return;
	as_worker_stop(&l->worker);
	as_loop_finish(&l->watch, as_now());
	looper_free(l);
}
