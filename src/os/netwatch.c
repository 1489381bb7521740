#include "os/netwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* The programs and what loads them, as bpftool wrote it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "bpf/net.lskel.h"
#pragma GCC diagnostic pop

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "os/ring.h"
#include "wire/net.h"

struct as_netwatch {
	struct net_bpf *bpf;
	struct as_ring ring;
	int out, in;     /* links to the group                  */
	as_ended_fn *fn; /* of the drain() under way            */
	void *data;
};

/* ── opening ──────────────────────────────────────────────────────────── */

static int refused(struct as_err *err, int os)
{
	as_fail_errno(err, os, "load BPF programs");
	return as_hint(err, "needs root, or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; Linux 5.17");
}

static int attach(struct as_netwatch *w, const struct as_cgroup *group, struct as_err *err)
{
	as_auto_fd int dir = openat(group->dir[AS_CG_V2], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return as_fail_errno(err, errno, "open the group of the job");
	w->out = skel_link_create(w->bpf->progs.goes_out.prog_fd, dir, BPF_CGROUP_INET_EGRESS);
	w->in = skel_link_create(w->bpf->progs.comes_in.prog_fd, dir, BPF_CGROUP_INET_INGRESS);
	return w->out < 0 || w->in < 0 ? refused(err, errno) : AS_OK;
}

static int load(struct as_netwatch *w, const struct as_cgroup *group, struct as_err *err)
{
	struct stat st;

	if (fstat(group->dir[AS_CG_V2], &st) < 0)
		return as_fail_errno(err, errno, "look at the group of the job");
	w->bpf = net_bpf__open();
	if (!w->bpf)
		return as_fail(err, AS_ENOMEM, "out of memory");
	w->bpf->rodata->job_group = st.st_ino;
	int r = net_bpf__load(w->bpf);
	if (r >= 0)
		r = net_bpf__attach(w->bpf);
	if (r < 0)
		return refused(err, -r);
	r = attach(w, group, err);
	return r < 0 ? r : as_ring_open(&w->ring, w->bpf->maps.ring.map_fd, AS_WIRE_NET_RING, err);
}

int as_netwatch_open(struct as_netwatch **ret, const struct as_env *env,
		     const struct as_cgroup *group, struct as_err *err)
{
	if (env->fixture || !group || !group->own || group->dir[AS_CG_V2] < 0)
		return as_fail(err, AS_EUNSUP, "no v2 control group of the job's own");
	struct as_netwatch *w = as_zalloc(sizeof *w);
	if (!w)
		return as_fail(err, AS_ENOMEM, "out of memory");
	w->out = w->in = -1;
	int r = load(w, group, err);
	if (r < 0)
		as_netwatch_close(w);
	else
		*ret = w;
	return r;
}

void as_netwatch_close(struct as_netwatch *w)
{
	if (!w)
		return;
	as_ring_close(&w->ring);
	as_close_(&w->out);
	as_close_(&w->in);
	net_bpf__destroy(w->bpf);
	free(w);
}

/* ── what it tells ────────────────────────────────────────────────────── */

static void tell(void *data, const void *record, size_t len)
{
	struct as_netwatch *w = data;
	struct as_sock s;
	enum as_role role;

	if (as_netwatch_parse(record, len, &s, &role))
		w->fn(w->data, &s, role);
}

void as_netwatch_drain(struct as_netwatch *w, as_ended_fn *fn, void *data)
{
	w->fn = fn;
	w->data = data;
	as_ring_drain(&w->ring, tell, w);
}

/* Look up the key, or find the one after it (NULL: the first), into `ret`. */
static bool ask(int map, enum bpf_cmd what, const void *key, void *ret)
{
	union bpf_attr a = {0};

	a.map_fd = (uint32_t)map;
	a.key = (uint64_t)(uintptr_t)key;
	a.value = (uint64_t)(uintptr_t)ret;
	as_called(1);
	return skel_sys_bpf(what, &a, sizeof a) == 0;
}

void as_netwatch_flows(const struct as_netwatch *w, as_flow_fn *fn, void *data)
{
	int map = w->bpf->maps.flows.map_fd;
	struct as_wire_flow key, next;
	struct as_wire_flow_count n;
	bool more = ask(map, BPF_MAP_GET_NEXT_KEY, NULL, &next);

	for (int i = 0; more && i < AS_WIRE_FLOWS; i++) {
		struct as_flow_seen flow;

		key = next;
		if (ask(map, BPF_MAP_LOOKUP_ELEM, &key, &n)) {
			as_netwatch_flow(&key, &n, &flow);
			fn(data, &flow);
		}
		more = ask(map, BPF_MAP_GET_NEXT_KEY, &key, &next);
	}
}

bool as_netwatch_talk(const struct as_netwatch *w, uint64_t cookie, struct as_talk *ret)
{
	struct as_wire_talk t;

	if (!ask(w->bpf->maps.talks.map_fd, BPF_MAP_LOOKUP_ELEM, &cookie, &t))
		return false;
	as_netwatch_talked(&t, as_now(), ret);
	return true;
}

void as_netwatch_begin(const struct as_netwatch *w, uint64_t cookie, const struct as_talk *talk)
{
	struct as_wire_talk t;
	union bpf_attr a = {0};

	as_netwatch_begun(talk, as_now(), &t);
	a.map_fd = (uint32_t)w->bpf->maps.talks.map_fd;
	a.key = (uint64_t)(uintptr_t)&cookie;
	a.value = (uint64_t)(uintptr_t)&t;
	a.flags = BPF_NOEXIST; /* its first packet may have come meanwhile */
	as_called(1);
	(void)skel_sys_bpf(BPF_MAP_UPDATE_ELEM, &a, sizeof a);
}

static int64_t load_count(const uint64_t *v)
{
	uint64_t n = __atomic_load_n(v, __ATOMIC_RELAXED);

	return n > INT64_MAX ? AS_SOCK_NA : (int64_t)n;
}

struct as_packets as_netwatch_packets(const struct as_netwatch *w)
{
	return (struct as_packets){load_count(&w->bpf->bss->sent_bytes),
				   load_count(&w->bpf->bss->sent_packets),
				   load_count(&w->bpf->bss->received_bytes),
				   load_count(&w->bpf->bss->received_packets)};
}

uint64_t as_netwatch_lost(const struct as_netwatch *w)
{
	return __atomic_load_n(&w->bpf->bss->lost, __ATOMIC_RELAXED);
}
