#include "os/bpf.h"
#include "os/loopwatch.h"

int as_loopwatch_open(struct as_loopwatch **ret, const struct as_env *env, int32_t pid,
		      int64_t threshold_ns, struct as_err *err)
{
	(void)ret, (void)env, (void)pid, (void)threshold_ns;
	return as_bpf_missing(err);
}

/* Nobody has a watch to call these with. */
void as_loopwatch_close(struct as_loopwatch *w)
{
	(void)w;
}

void as_loopwatch_seed(struct as_loopwatch *w, int32_t tid, int32_t nr, bool epolls)
{
	(void)w, (void)tid, (void)nr, (void)epolls;
}

const struct as_wire_loop *as_loopwatch_loops(const struct as_loopwatch *w, size_t *ret_n)
{
	(void)w;
	*ret_n = 0;
	return NULL;
}

void as_loopwatch_drain(struct as_loopwatch *w, as_wire_block_fn *fn, void *data)
{
	(void)w, (void)fn, (void)data;
}

uint64_t as_loopwatch_lost(const struct as_loopwatch *w)
{
	(void)w;
	return 0;
}
