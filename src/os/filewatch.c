#include "os/filewatch.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The programs and what loads them, as bpftool wrote it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "bpf/files.lskel.h"
#pragma GCC diagnostic pop

#include "base/fault.h"
#include "os/bpf.h"

enum { BATCH = 64 };

struct as_filewatch {
	struct files_bpf *bpf;
	struct as_wire_file_key keys[BATCH];
	struct as_wire_file files[BATCH];
};

static int load(struct as_filewatch *w, const struct as_filewatch_who *who, struct as_err *err)
{
	w->bpf = files_bpf__open();
	if (!w->bpf)
		return as_fail(err, AS_ENOMEM, "out of memory");
	w->bpf->bss->root = who->root;
	w->bpf->bss->itself = who->itself;
	w->bpf->bss->descendants = who->descendants;
	int r = files_bpf__load(w->bpf);
	if (r >= 0)
		r = files_bpf__attach(w->bpf);
	return r < 0 ? as_bpf_refused(err, -r) : AS_OK;
}

int as_filewatch_open(struct as_filewatch **ret, const struct as_env *env,
		      const struct as_filewatch_who *who, struct as_err *err)
{
	int r = as_bpf_check(env, err);

	if (r < 0)
		return r;
	struct as_filewatch *w = as_zalloc(sizeof *w);
	if (!w)
		return as_fail(err, AS_ENOMEM, "out of memory");
	r = load(w, who, err);
	if (r < 0)
		as_filewatch_close(w);
	else
		*ret = w;
	return r;
}

void as_filewatch_close(struct as_filewatch *w)
{
	if (!w)
		return;
	files_bpf__destroy(w->bpf);
	free(w);
}

/* The next entries of the map, from where the last call ended; false: these were the last. */
static bool next_batch(struct as_filewatch *w, uint32_t *at, bool first, uint32_t *ret_n)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof attr); /* the kernel refuses garbage in what it does not use */
	attr.batch.in_batch = first ? 0 : (uint64_t)(uintptr_t)at;
	attr.batch.out_batch = (uint64_t)(uintptr_t)at;
	attr.batch.keys = (uint64_t)(uintptr_t)w->keys;
	attr.batch.values = (uint64_t)(uintptr_t)w->files;
	attr.batch.count = BATCH;
	attr.batch.map_fd = (uint32_t)w->bpf->maps.files.map_fd;
	long r = syscall(SYS_bpf, BPF_MAP_LOOKUP_BATCH, &attr, sizeof attr);

	*ret_n = r == 0 || errno == ENOENT ? attr.batch.count : 0;
	return r == 0;
}

void as_filewatch_each(struct as_filewatch *w, as_file_fn *fn, void *data)
{
	uint32_t at = 0, n = 0;
	bool more = true;

	for (bool first = true; more; first = false) {
		more = next_batch(w, &at, first, &n);
		for (uint32_t i = 0; i < n && i < BATCH; i++)
			fn(data, &w->keys[i], &w->files[i]);
	}
}

uint64_t as_filewatch_unlisted(const struct as_filewatch *w)
{
	return __atomic_load_n(&w->bpf->bss->unlisted, __ATOMIC_RELAXED);
}
