/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * files -- bytes, calls and time of every file that the job reads or writes by
 * system calls. Opt-in: while it is loaded, every system call of the machine
 * passes by here twice; those that do not move bytes, and those of others, leave
 * at once.
 *
 * A read is noted when it starts and counted when it returns, because only then
 * its bytes are known. A file is known by device and inode; its path is taken
 * from the kernel's own tree when the file is seen first, so that one that is
 * renamed or deleted later still has a name.
 */
#include "bpf/vmlinux.h"
#include "wire/file.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { CLIMB_MAX = 32, GENERATIONS_MAX = 32, E2BIG = 7 };
enum { S_IFMT = 0170000, S_IFCHR = 0020000, S_IFBLK = 0060000, S_IFREG = 0100000 };

/* Descriptors by the place of the argument; -1: none. */
struct way {
	int8_t from, to;
};

struct call {
	uint64_t t;
	int32_t from, to; /* descriptors, or -1 */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, AS_WIRE_FILES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct as_wire_file_key);
	__type(value, struct as_wire_file);
} files SEC(".maps");

struct { /* by thread: the call that it is in */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint32_t);
	__type(value, struct call);
} calls SEC(".maps");

struct { /* by moment of birth: does the process belong to the job */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, uint8_t);
} known SEC(".maps");

struct { /* too large for the stack */
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct as_wire_file);
} fresh SEC(".maps");

int32_t root = 0;
bool itself = false, descendants = false; /* of root: do they belong to the job */
uint64_t unlisted = 0;                    /* calls for which there was no room   */

/* Orphans of a job that we started come to us, so ancestors lead to us always. */
static bool of_job(struct task_struct *task)
{
	struct task_struct *p = task->group_leader;
	uint64_t birth = p->start_boottime;
	uint8_t *seen = bpf_map_lookup_elem(&known, &birth), yes = 0;

	if (seen)
		return *seen;
	for (int i = 0; i < GENERATIONS_MAX && p->tgid > 1; i++) {
		if (p->tgid == root) {
			yes = i ? descendants : itself;
			break;
		}
		p = p->real_parent;
	}
	bpf_map_update_elem(&known, &birth, &yes, BPF_ANY);
	return yes;
}

/* Numbers of x86-64; elsewhere the table is the generic one. */
/* clang-format off */
static bool way_of(long nr, struct way *w)
{
	*w = (struct way){-1, -1};
	switch (nr) {
#ifdef __TARGET_ARCH_x86
	case 0: case 17: case 19: case 295: case 327: /* read pread64 readv preadv preadv2 */
		w->from = 0;
		return true;
	case 1: case 18: case 20: case 296: case 328: /* write pwrite64 writev pwritev pwritev2 */
		w->to = 0;
		return true;
	case 40: /* sendfile(to, from) */
		*w = (struct way){1, 0};
		return true;
	case 326: /* copy_file_range(from, , to) */
	case 275: /* splice(from, , to) */
#else
	case 63: case 65: case 67: case 69: case 286:
		w->from = 0;
		return true;
	case 64: case 66: case 68: case 70: case 287:
		w->to = 0;
		return true;
	case 71:
		*w = (struct way){1, 0};
		return true;
	case 285:
	case 76:
#endif
		*w = (struct way){0, 2};
		return true;
	}
	return false;
}
/* clang-format on */

static int32_t argument(struct pt_regs *regs, int8_t n)
{
	return n < 0 ? -1
		     : (int32_t)(n == 0   ? PT_REGS_PARM1_CORE_SYSCALL(regs)
				 : n == 1 ? PT_REGS_PARM2_CORE_SYSCALL(regs)
					  : PT_REGS_PARM3_CORE_SYSCALL(regs));
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_starts, struct pt_regs *regs, long nr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct way w;

	if (!way_of(nr, &w) || !of_job(task))
		return 0;
	struct call c = {.from = argument(regs, w.from), .to = argument(regs, w.to)};
	uint32_t tid = task->pid;
	c.t = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &tid, &c, BPF_ANY);
	return 0;
}

static struct file *file_of(struct task_struct *task, int32_t fd)
{
	struct fdtable *table = task->files->fdt;
	struct file **v = table->fd, *file = 0;

	if (fd < 0 || (uint32_t)fd >= table->max_fds)
		return 0;
	bpf_probe_read_kernel(&file, sizeof file, v + fd);
	return file;
}

/* ── a path, from its end ─────────────────────────────────────────────── */

struct climb {
	struct dentry *at, *root; /* root: where the process begins to name files */
	struct mount *mount, *root_mount;
	uint32_t len;
};

static struct mount *mount_of(struct vfsmount *mnt)
{
	return (struct mount *)((char *)mnt - bpf_core_field_offset(struct mount, mnt));
}

/* One component; at the root of a mounted file system go on where it is mounted. */
static long step(uint32_t i, void *ctx)
{
	struct climb *c = ctx;
	struct dentry *at = c->at, *up = BPF_CORE_READ(at, d_parent);
	struct mount *mount = c->mount;
	uint32_t zero = 0, len = c->len;

	if (at == c->root && mount == c->root_mount)
		return 1;
	if (at == up || at == BPF_CORE_READ(mount, mnt.mnt_root)) {
		struct mount *outer = BPF_CORE_READ(mount, mnt_parent);

		c->at = BPF_CORE_READ(mount, mnt_mountpoint);
		c->mount = outer;
		return outer == mount;
	}
	struct as_wire_file *f = bpf_map_lookup_elem(&fresh, &zero);
	if (!f || len > AS_WIRE_PATH - AS_WIRE_NAME)
		return 1;
	long n = bpf_probe_read_kernel_str(f->path + len, AS_WIRE_NAME,
					   BPF_CORE_READ(at, d_name.name));
	if (n <= 0)
		return 1;
	c->len += n;
	c->at = up;
	return 0;
}

static uint32_t put_path(struct file *file)
{
	struct fs_struct *fs = bpf_get_current_task_btf()->fs;
	struct climb c = {.at = BPF_CORE_READ(file, f_path.dentry),
			  .root = BPF_CORE_READ(fs, root.dentry),
			  .mount = mount_of(BPF_CORE_READ(file, f_path.mnt)),
			  .root_mount = mount_of(BPF_CORE_READ(fs, root.mnt))};

	bpf_loop(CLIMB_MAX, step, &c, 0);
	return c.len;
}

static struct as_wire_file *first_seen(struct file *file, struct as_wire_file_key *key)
{
	uint32_t zero = 0;
	struct as_wire_file *f = bpf_map_lookup_elem(&fresh, &zero);

	if (!f)
		return 0;
	__builtin_memset(f, 0, __builtin_offsetof(struct as_wire_file, path));
	f->path_len = put_path(file);
	if (bpf_map_update_elem(&files, key, f, BPF_NOEXIST) == -E2BIG)
		__sync_fetch_and_add(&unlisted, 1);
	return bpf_map_lookup_elem(&files, key); /* ours, or another CPU was faster */
}

/* ── the end of a call ────────────────────────────────────────────────── */

static __attribute__((noinline)) int count(struct file *file, uint32_t way, uint64_t n, uint64_t ns)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct as_wire_file_key key = {BPF_CORE_READ(inode, i_ino),
				       BPF_CORE_READ(inode, i_sb, s_dev), 0};
	uint32_t kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;

	if (kind != S_IFREG && kind != S_IFBLK && kind != S_IFCHR)
		return 0; /* pipes and sockets are no files */
	struct as_wire_file *f = bpf_map_lookup_elem(&files, &key);
	if (!f)
		f = first_seen(file, &key);
	if (!f)
		return 0;
	way &= 1;
	__sync_fetch_and_add(&f->bytes[way], n);
	__sync_fetch_and_add(&f->calls[way], 1);
	__sync_fetch_and_add(&f->ns[way], ns);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t tid = task->pid;
	struct call *c = bpf_map_lookup_elem(&calls, &tid);

	if (!c)
		return 0;
	uint64_t ns = bpf_ktime_get_ns() - c->t, n = ret > 0 ? (uint64_t)ret : 0;
	struct file *from = file_of(task, c->from), *to = file_of(task, c->to);
	if (from)
		count(from, AS_WIRE_READ, n, ns);
	if (to)
		count(to, AS_WIRE_WRITE, n, ns);
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}
