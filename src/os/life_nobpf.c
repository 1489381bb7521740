#include "os/bpf.h"
#include "os/life_bpf.h"

static int open_source(struct as_life_source **ret, const struct as_env *env, struct as_err *err)
{
	(void)ret, (void)env;
	return as_bpf_missing(err);
}

int as_life_bpf_pass(const struct as_life_source *s, bool all, struct as_err *err)
{
	(void)s, (void)all;
	return as_bpf_missing(err);
}

uint64_t as_life_bpf_quiet(const struct as_life_source *s)
{
	(void)s;
	return 0;
}

const struct as_wire_disk *as_life_bpf_disk(struct as_life_source *s)
{
	(void)s;
	return NULL;
}

/* Nothing but open() is ever called: there is no source to give it. */
const struct as_life_ops as_life_bpf = {.name = "BPF", .open = open_source};
