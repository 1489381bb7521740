#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * vmlinux -- the few members of kernel structures that our programs read.
 *
 * Written by hand and never dumped from the machine that builds: offsets mean
 * nothing here. Each access is recorded with its name and looked up in the
 * running kernel's own types (CO-RE), so what stands here need only have the
 * right names and kinds. Where a kernel changed a member's kind, both stand here:
 * NAME___old is NAME to the kernel (a "flavour").
 */
#include <stdbool.h>
#include <stdint.h>

/* What <bpf/bpf_helpers.h> and <bpf/bpf_tracing.h> expect of a vmlinux.h. */
#define __VMLINUX_H__
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __wsum;

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

/* What a packet and a socket look like to a program: an interface, so the places are fixed. */
struct __sk_buff {
	uint32_t len, pkt_type, mark, queue_mapping, protocol;
	uint32_t skipped[37];
	struct bpf_sock *sk;
};

struct bpf_sock {
	uint32_t skipped[18];
	uint32_t state;
};

struct bpf_tcp_sock {
	uint32_t skipped[20];
	uint64_t bytes_received;
};

_Static_assert(__builtin_offsetof(struct __sk_buff, sk) == 168, "as the kernel has it");
_Static_assert(__builtin_offsetof(struct bpf_sock, state) == 72, "as the kernel has it");
_Static_assert(__builtin_offsetof(struct bpf_tcp_sock, bytes_received) == 80,
	       "as the kernel has it");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	long counter;
} atomic_long_t;

typedef struct {
	atomic_t refs;
} refcount_t;

struct list_head {
	struct list_head *next;
};

struct bpf_array {
	void *pptrs[0];
};

struct percpu_counter {
	int64_t count;
	int32_t *counters;
};

struct mm_rss_stat {
	atomic_long_t count[4];
};

struct mm_struct {
	unsigned long hiwater_rss;
	unsigned long total_vm;
	unsigned long arg_start, arg_end;
	struct percpu_counter rss_stat[4];
};

struct mm_struct___old { /* before 6.2 */
	struct mm_rss_stat rss_stat;
};

/* Counts how often what it guards was written, and is odd meanwhile; more of it is deeper down. */
typedef struct {
} seqlock_t;

struct task_io_accounting {
	uint64_t rchar, wchar, syscr, syscw;
	uint64_t read_bytes, write_bytes, cancelled_write_bytes;
};

struct signal_struct {
	refcount_t sigcnt;
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	int group_exit_code;
	unsigned int flags;
	seqlock_t stats_lock;
	uint64_t utime, stime, cutime, cstime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt, cmin_flt, cmaj_flt;
	unsigned long maxrss; /* KiB */
	struct task_io_accounting ioac;
	unsigned long long sum_sched_runtime;
};

struct sched_entity {
	uint8_t on_rq; /* before 6.6 it is an int: this is its lowest byte */
	uint64_t sum_exec_runtime;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
};

struct super_block {
	uint32_t s_dev;
};

struct inode {
	unsigned long i_ino;
	uint16_t i_mode;
	struct super_block *i_sb;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds; /* a bit for each that is open */
};

struct files_struct {
	struct fdtable *fdt;
};

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long di, si, dx;
};
#endif

struct fs_struct {
	struct path root; /* what "/" is for it */
};

struct task_struct {
	unsigned int __state;
	int on_cpu;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_state;
	int exit_code;
	int32_t pid, tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct list_head thread_node;
	uint64_t utime, stime;
	unsigned long nvcsw, nivcsw;
	uint64_t start_boottime;
	unsigned long min_flt, maj_flt;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct signal_struct *signal;
	struct task_io_accounting ioac;
};

struct block_device_operations {
	void *submit_bio; /* where a device passes requests on to others */
};

struct gendisk {
	struct block_device_operations *fops;
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct kernfs_node {
	uint64_t id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* stands first */
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct in6_addr {
	uint8_t in6_u[16];
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
	unsigned long skc_flags;
};

struct sock {
	struct sock_common __sk_common;
	uint16_t sk_protocol;
	uint8_t sk_shutdown;
	struct sock_cgroup_data sk_cgrp_data;
};

struct inet_sock {
	__be16 inet_sport;
};

struct minmax_sample {
	uint32_t t, v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	uint64_t bytes_sent, bytes_retrans, bytes_received;
	uint32_t total_retrans, srtt_us;
	struct minmax rtt_min;
};

#pragma clang attribute pop
