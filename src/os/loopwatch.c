#include "os/loopwatch.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The programs and what loads them, as bpftool wrote it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "bpf/loop.lskel.h"
#pragma GCC diagnostic pop

#include "base/clock.h"
#include "base/fault.h"
#include "os/bpf.h"
#include "os/ring.h"

enum { LOOPS_SIZE = AS_WIRE_LOOPS * sizeof(struct as_wire_loop) };

struct as_loopwatch {
	struct loop_bpf *bpf;
	struct as_ring ring;
	struct as_wire_loop *loops; /* the map's own memory; NULL: not mapped (yet) */
	const struct as_env *env;
};

static int map_loops(struct as_loopwatch *w, struct as_err *err)
{
	void *p = mmap(NULL, LOOPS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       w->bpf->maps.loops.map_fd, 0);

	if (p == MAP_FAILED)
		return as_fail_errno(err, errno, "map what BPF programs write");
	w->loops = p;
	return AS_OK;
}

static int load(struct as_loopwatch *w, int32_t pid, int64_t threshold_ns, struct as_err *err)
{
	w->bpf = loop_bpf__open();
	if (!w->bpf)
		return as_fail(err, AS_ENOMEM, "out of memory");
	w->bpf->bss->target = pid;
	w->bpf->bss->threshold = (uint64_t)threshold_ns;
	int r = loop_bpf__load(w->bpf);
	if (r >= 0)
		r = loop_bpf__attach(w->bpf);
	if (r < 0)
		return as_bpf_refused(err, -r);
	r = map_loops(w, err);
	return r < 0 ? r : as_ring_open(&w->ring, w->bpf->maps.ring.map_fd, AS_WIRE_LOOP_RING, err);
}

int as_loopwatch_open(struct as_loopwatch **ret, const struct as_env *env, int32_t pid,
		      int64_t threshold_ns, struct as_err *err)
{
	int r = as_bpf_check(env, err);

	if (r < 0)
		return r;
	struct as_loopwatch *w = as_zalloc(sizeof *w);
	if (!w)
		return as_fail(err, AS_ENOMEM, "out of memory");
	w->env = env;
	r = load(w, pid, threshold_ns, err);
	if (r < 0)
		as_loopwatch_close(w);
	else
		*ret = w;
	return r;
}

void as_loopwatch_close(struct as_loopwatch *w)
{
	if (!w)
		return;
	as_ring_close(&w->ring);
	if (w->loops)
		(void)munmap(w->loops, LOOPS_SIZE);
	loop_bpf__destroy(w->bpf);
	free(w);
}

static void place(struct as_loopwatch *w, int32_t tid, uint32_t at)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr); /* the kernel refuses garbage in what it does not use */
	attr.map_fd = (uint32_t)w->bpf->maps.places.map_fd;
	attr.key = (uint64_t)(uintptr_t)&tid;
	attr.value = (uint64_t)(uintptr_t)&at;
	attr.flags = BPF_NOEXIST; /* it may have come by itself meanwhile */
	(void)syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof attr);
}

void as_loopwatch_seed(struct as_loopwatch *w, int32_t tid, int32_t nr, bool epolls)
{
	uint32_t at = __atomic_fetch_add(&w->bpf->bss->used, 1, __ATOMIC_RELAXED);

	if (at >= AS_WIRE_LOOPS)
		return;
	struct as_wire_loop *x = &w->loops[at];
	x->tid = tid;
	x->wait = nr;
	x->epolls = epolls;
	x->first = (uint64_t)(as_now() - w->env->ahead.monotonic);
	__atomic_store_n(&x->waiting, 1, __ATOMIC_RELEASE);
	place(w, tid, at);
}

const struct as_wire_loop *as_loopwatch_loops(const struct as_loopwatch *w, size_t *ret_n)
{
	uint32_t used = __atomic_load_n(&w->bpf->bss->used, __ATOMIC_ACQUIRE);

	*ret_n = used < AS_WIRE_LOOPS ? used : AS_WIRE_LOOPS;
	return w->loops;
}

/* Who is told of a block. */
struct listener {
	as_wire_block_fn *fn;
	void *data;
};

static void hear(void *data, const void *record, size_t len)
{
	const struct listener *l = data;

	if (len >= sizeof(struct as_wire_block))
		l->fn(l->data, record);
}

void as_loopwatch_drain(struct as_loopwatch *w, as_wire_block_fn *fn, void *data)
{
	struct listener l = {fn, data};

	as_ring_drain(&w->ring, hear, &l);
}

uint64_t as_loopwatch_lost(const struct as_loopwatch *w)
{
	return __atomic_load_n(&w->bpf->bss->lost, __ATOMIC_RELAXED);
}
