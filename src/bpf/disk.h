#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * disk -- bytes and operations that processes of the job send to block devices.
 *
 * Counted where they are sent, so that the sender is known. What a process leaves
 * in the page cache is written later by the kernel, in nobody's name, and is not
 * here. A device that is made of others (RAID, LVM, loop) passes on what it gets;
 * only what comes to a device with a queue of its own is counted, and so once.
 */
#include "bpf/seats.h"
#include "wire/disk.h"

struct as_wire_disk disk;

enum { OP_MASK = 0xff, OP_READ = 0, OP_WRITE = 1 };

SEC("tp_btf/block_bio_queue")
int BPF_PROG(disk_sent, struct bio *bio)
{
	const struct task_struct *t = bpf_get_current_task_btf();
	uint32_t op = bio->bi_opf & OP_MASK;

	if (op > OP_WRITE || !belongs(process_of(t), t->tgid) ||
	    BPF_CORE_READ(bio, bi_bdev, bd_disk, fops, submit_bio))
		return 0;
	__sync_fetch_and_add(op == OP_READ ? &disk.read_bytes : &disk.write_bytes,
			     bio->bi_iter.bi_size);
	__sync_fetch_and_add(op == OP_READ ? &disk.reads : &disk.writes, bio->bi_iter.bi_size > 0);
	return 0;
}
