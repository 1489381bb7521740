#include "os/netwatch.h"

int as_netwatch_open(struct as_netwatch **ret, const struct as_env *env,
		     const struct as_cgroup *group, struct as_err *err)
{
	(void)ret, (void)env, (void)group;
	as_fail(err, AS_EUNSUP, "this assay was built without BPF");
	return as_hint(err, "build with clang, bpftool and libbpf-dev: meson setup -Dbpf=enabled");
}

/* There is never one to be given to these. */
void as_netwatch_drain(struct as_netwatch *w, as_ended_fn *fn, void *data)
{
	(void)w, (void)fn, (void)data;
}

void as_netwatch_flows(const struct as_netwatch *w, as_flow_fn *fn, void *data)
{
	(void)w, (void)fn, (void)data;
}

bool as_netwatch_talk(const struct as_netwatch *w, uint64_t cookie, struct as_talk *ret)
{
	(void)w, (void)cookie, (void)ret;
	return false;
}

void as_netwatch_begin(const struct as_netwatch *w, uint64_t cookie, const struct as_talk *talk)
{
	(void)w, (void)cookie, (void)talk;
}

struct as_packets as_netwatch_packets(const struct as_netwatch *w)
{
	(void)w;
	return (struct as_packets){0};
}

uint64_t as_netwatch_lost(const struct as_netwatch *w)
{
	(void)w;
	return 0;
}

void as_netwatch_close(struct as_netwatch *w)
{
	(void)w;
}
