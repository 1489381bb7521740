#include "base/calls.h"
#include "os/life_bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "wire/disk.h"
#include "wire/task.h"

/* The programs and what loads them, as bpftool wrote it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "bpf/job.lskel.h"
#pragma GCC diagnostic pop

#include "base/cleanup.h"
#include "base/fault.h"
#include "base/num.h"
#include "os/bpf.h"
#include "os/proc.h"
#include "os/ring.h"
#include "wire/life.h"

struct as_life_source {
	struct job_bpf *bpf;
	struct as_ring ring;
	const struct as_wire_telling *telling; /* what a pass has to say                       */
	bool named;                            /* somebody was, since all tasks were walked    */
	as_life_fn *fn;                        /* of the drain() under way                     */
	void *data;
};

/* ── opening ──────────────────────────────────────────────────────────── */

/* All but those of block devices, which have to be asked for. */
static int attach(struct job_bpf *b)
{
	int (*const parts[])(
		struct job_bpf *) = {job_bpf__life_fork__attach, job_bpf__life_exec__attach,
				     job_bpf__life_exit__attach, job_bpf__life_free__attach,
				     job_bpf__search__attach};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < AS_LEN(parts); i++)
		r = parts[i](b);
	return r;
}

/* Tests hold the ring to so many bytes, a power of two, to see it overflow. */
static uint32_t ring_size(void)
{
	const char *wish = getenv("ASSAY_BPF_ROOM");
	uint64_t bytes = 0;

	return wish && as_scan_u64(wish, strlen(wish), &bytes) && bytes < AS_WIRE_RING
		       ? (uint32_t)bytes
		       : AS_WIRE_RING;
}

/* Likewise seats for the threads of the job; 0: as many as there are. */
static uint32_t seats(void)
{
	const char *wish = getenv("ASSAY_BPF_SEATS");
	uint64_t n = 0;

	return wish && as_scan_u64(wish, strlen(wish), &n) && n < UINT16_MAX ? (uint32_t)n : 0;
}

/* It wakes us early: on a machine that is busy we come late. */
enum { WAKE_AT = 16 };

static int map_telling(struct as_life_source *s, struct as_err *err)
{
	void *p = mmap(NULL, sizeof *s->telling, PROT_READ, MAP_SHARED, s->bpf->maps.telling.map_fd,
		       0);

	if (p == MAP_FAILED)
		return as_fail_errno(err, errno, "map what BPF tells of tasks");
	s->telling = p;
	return AS_OK;
}

/* May programs read memory themselves (bpf/sight.h)? Tests say no to see the other way. */
static bool reads_directly(void)
{
	struct utsname u;
	uint64_t major = 0, minor = 0;

	if (getenv("ASSAY_BPF_COPY") || uname(&u) < 0)
		return false;
	size_t n = strlen(u.release), at = as_scan_u64(u.release, n, &major);
	if (!at || u.release[at] != '.' || !as_scan_u64(u.release + at + 1, n - at - 1, &minor))
		return false;
	return major > 6 || (major == 6 && minor >= 17);
}

/* Negative errno: they were refused. */
static int load_programs(struct as_life_source *s, const struct as_env *env, bool direct)
{
	uint32_t size = ring_size();

	errno = 0;
	s->bpf = job_bpf__open();
	if (!s->bpf)
		return -ENOMEM;
	s->bpf->rodata->direct = direct;
	s->bpf->rodata->page_kib = env->page / 1024;
	s->bpf->rodata->monotonic_ahead = env->ahead.monotonic;
	s->bpf->rodata->boottime_ahead = env->ahead.boottime;
	s->bpf->rodata->processors = (uint32_t)get_nprocs_conf();
	s->bpf->rodata->wake_at = size / WAKE_AT;
	s->bpf->maps.ring.max_entries = size;
	if (seats())
		s->bpf->maps.seats.max_entries = seats();
	return job_bpf__load(s->bpf);
}

static int load(struct as_life_source *s, const struct as_env *env, struct as_err *err)
{
	bool direct = reads_directly();
	int r = load_programs(s, env, direct);

	if (r < 0 && direct && (r == -EACCES || r == -EINVAL)) { /* what its number promised */
		job_bpf__destroy(as_take(s->bpf));
		r = load_programs(s, env, false);
	}
	if (r >= 0)
		r = attach(s->bpf);
	if (r < 0)
		return as_bpf_refused(err, -r);
	r = map_telling(s, err);
	if (r < 0)
		return r;
	return as_ring_open(&s->ring, s->bpf->maps.ring.map_fd, ring_size(), err);
}

static void close_source(struct as_life_source *s)
{
	if (!s)
		return;
	as_ring_close(&s->ring);
	if (s->telling)
		(void)munmap((void *)(uintptr_t)s->telling, sizeof *s->telling);
	job_bpf__destroy(s->bpf);
	free(s);
}

static int open_source(struct as_life_source **ret, const struct as_env *env, struct as_err *err)
{
	int r = as_bpf_check(env, err);

	if (r < 0)
		return r;
	struct as_life_source *s = as_zalloc(sizeof *s);
	if (!s)
		return as_fail(err, AS_ENOMEM, "out of memory");
	r = load(s, env, err);
	if (r < 0)
		close_source(s);
	else
		*ret = s;
	return r;
}

/* ── who belongs ──────────────────────────────────────────────────────── */

static int name(struct as_life_source *s, int32_t pid, uint32_t as, struct as_err *err)
{
	as_called(1);
	if (skel_map_update_elem(s->bpf->maps.named.map_fd, &pid, &as, 0) < 0)
		return as_fail_errno(err, errno, "tell BPF of process %d", pid);
	s->named |= as == AS_WIRE_MEMBER;
	return AS_OK;
}

static int parent(struct as_life_source *s, int32_t pid, struct as_err *err)
{
	return name(s, pid, AS_WIRE_PARENT, err);
}

static int member(struct as_life_source *s, int32_t pid, struct as_err *err)
{
	return name(s, pid, AS_WIRE_MEMBER, err);
}

/* Its number may be another's before anything is heard of it. */
static void forget(struct as_life_source *s, int32_t pid)
{
	as_called(1);
	(void)skel_map_delete_elem(s->bpf->maps.named.map_fd, &pid);
}

/* ── what happened ────────────────────────────────────────────────────── */

static int64_t known(uint64_t v)
{
	return v > INT64_MAX ? AS_PROC_NA : (int64_t)v;
}

static int64_t kib(uint64_t v)
{
	return v > INT64_MAX / 1024 ? AS_PROC_NA : (int64_t)v * 1024;
}

/* Ticks say how the time on the CPU was split; how long it was, the scheduler knows. */
static void split(struct as_life_usage *u, const struct as_wire_usage *w)
{
	double ticks = (double)w->utime + (double)w->stime;

	u->sys_ns = ticks > 0 ? (int64_t)((double)w->cpu * ((double)w->stime / ticks)) : 0;
	u->user_ns = u->cpu_ns - u->sys_ns;
}

static void usage(struct as_life_usage *u, const struct as_wire_end *end)
{
	const struct as_wire_usage *w = &end->usage;

	*u = (struct as_life_usage){
		.cpu_ns = known(w->cpu),
		.wait_ns = known(w->wait),
		.minflt = known(w->minflt),
		.majflt = known(w->majflt),
		.voluntary = known(w->voluntary),
		.forced = known(w->forced),
		.read_bytes = known(w->read_bytes),
		.write_bytes = known(w->write_bytes),
		.cancelled_bytes = known(w->cancelled_bytes),
		.rchar = known(w->rchar),
		.wchar = known(w->wchar),
		.syscr = known(w->syscr),
		.syscw = known(w->syscw),
		.hwm = kib(end->hwm),
		.file = kib(end->file),
		.threads = known(end->threads),
	};
	split(u, w);
}

static const struct kind {
	enum as_life_kind kind;
	size_t size;
} kinds[] = {
	[AS_WIRE_BORN] = {AS_LIFE_BORN, sizeof(struct as_wire_life)},
	[AS_WIRE_EXEC] = {AS_LIFE_EXEC, sizeof(struct as_wire_exec)},
	[AS_WIRE_DIED] = {AS_LIFE_DIED, sizeof(struct as_wire_end)},
	[AS_WIRE_SETTLED] = {AS_LIFE_SETTLED, sizeof(struct as_wire_end)},
};

static void args_of(struct as_life *life, const struct as_wire_exec *exec)
{
	life->args = exec->args;
	life->args_len = exec->len < AS_WIRE_ARGS ? exec->len : AS_WIRE_ARGS;
}

static void tell(void *data, const void *record, size_t len)
{
	struct as_life_source *s = data;
	const struct as_wire_life *w = record;

	if (len < sizeof *w || w->kind >= AS_LEN(kinds) || len < kinds[w->kind].size)
		return;
	struct as_life life = {
		.kind = kinds[w->kind].kind,
		.pid = w->pid,
		.parent = w->parent,
		.t_ns = known(w->t),
		.start_ns = known(w->start),
		.status = w->status,
	};
	memcpy(life.comm, w->comm, sizeof life.comm - 1);
	if (w->kind == AS_WIRE_EXEC)
		args_of(&life, record);
	if (kinds[w->kind].size == sizeof(struct as_wire_end))
		usage(&life.usage, record);
	s->fn(s->data, &life);
}

static int drain(struct as_life_source *s, as_life_fn *fn, void *data, struct as_err *err)
{
	(void)err;
	s->fn = fn;
	s->data = data;
	as_ring_drain(&s->ring, tell, s);
	return AS_OK;
}

/* What it returned, or -1 with errno. */
static int run_program(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.test.prog_fd = (uint32_t)fd;
	as_called(1);
	return skel_sys_bpf(BPF_PROG_TEST_RUN, &attr, sizeof attr.test) < 0 ? -1
									    : (int)attr.test.retval;
}

static uint32_t settle(struct as_life_source *s)
{
	if (run_program(s->bpf->progs.settle.prog_fd) < 0)
		return 0; /* nothing can be done: what DIED told stands */
	return __atomic_load_n(&s->bpf->bss->owed, __ATOMIC_RELAXED);
}

static int ring_fd(const struct as_life_source *s)
{
	return s->ring.fd;
}

static uint64_t lost(const struct as_life_source *s)
{
	return __atomic_load_n(&s->bpf->bss->lost, __ATOMIC_RELAXED);
}

/* ── the living ───────────────────────────────────────────────────────── */

/* All tasks of the machine are asked whether they belong; it is read like a file, and empty. */
static int search(struct as_life_source *s, struct as_err *err)
{
	union bpf_attr attr;
	char none[8];
	ssize_t n;

	memset(&attr, 0, sizeof attr);
	attr.iter_create.link_fd = (uint32_t)s->bpf->links.search_fd;
	as_called(1);
	as_auto_fd int fd = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof attr.iter_create);
	if (fd < 0)
		return as_fail_errno(err, errno, "start the BPF task iterator");
	do
		n = as_read(fd, none, sizeof none);
	while (n < 0 && errno == EAGAIN); /* the kernel lets others run in between */
	s->named = false;
	return n < 0 ? as_fail_errno(err, errno, "read the BPF task iterator") : AS_OK;
}

/* A process whose threads are not all told of would seem to have used less than it did. */
static int all_seated(const struct as_wire_pass *pass, struct as_err *err)
{
	return pass->full ? as_fail(err, AS_EUNSUP, "the job has more threads than BPF follows")
			  : AS_OK;
}

int as_life_bpf_pass(struct as_life_source *s, bool all, struct as_err *err)
{
	struct as_wire_pass *pass = &s->bpf->bss->passing;
	int r = all_seated(pass, err);

	if (r == AS_OK && (s->named || pass->missed))
		r = search(s, err);
	*pass = (struct as_wire_pass){.number = pass->number + 1,
				      .all = all,
				      .more = 1,
				      .full = pass->full};
	return r < 0 ? r : all_seated(pass, err);
}

int as_life_bpf_part(struct as_life_source *s, const char **ret_records, size_t *ret_len,
		     struct as_err *err)
{
	struct as_wire_pass *pass = &s->bpf->bss->passing;

	*ret_len = 0;
	*ret_records = s->telling->bytes;
	if (!pass->more)
		return AS_OK;
	int r = run_program(s->bpf->progs.look.prog_fd);
	if (r < 0)
		return as_fail_errno(err, errno, "look at the tasks by BPF");
	if (r > 0)
		return as_fail(err, AS_EUNSUP, "this kernel shuffles its structures");
	if (all_seated(pass, err) < 0)
		return err->code;
	*ret_len = pass->len < sizeof s->telling->bytes ? pass->len : sizeof s->telling->bytes;
	return AS_OK;
}

uint64_t as_life_bpf_quiet(const struct as_life_source *s)
{
	return s->bpf->bss->passing.quiet;
}

const struct as_wire_disk *as_life_bpf_disk(struct as_life_source *s)
{
	if (s->bpf->links.disk_sent_fd <= 0 && job_bpf__disk_sent__attach(s->bpf) < 0)
		return NULL;
	return &s->bpf->bss->disk;
}

const struct as_life_ops as_life_bpf = {
	.name = "BPF",
	.open = open_source,
	.fd = ring_fd,
	.parent = parent,
	.member = member,
	.forget = forget,
	.drain = drain,
	.settle = settle,
	.lost = lost,
	.close = close_source,
};
