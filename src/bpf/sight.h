#pragma once
/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sight -- memory of the kernel at an address that may be anybody's by now.
 *
 * A helper copies it and cannot fail badly, but a call of it is a hundred instructions:
 * while one waits for memory, few others can begin to. Since 6.17 a program may also take
 * an address for memory that it reads itself, and reads nothing but 0 where there is none.
 * Then all that is known of a thread is waited for at once.
 */
#include "bpf/vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* May this kernel's programs do that? os/life_bpf.c knows. */
const volatile bool direct = false;

extern void *bpf_rdonly_cast(const void *from, uint32_t no_type) __ksym __weak;

/* `size` bytes from `where` on: there, or in `room`, if that many fit into it. */
static __always_inline const uint8_t *sight(void *room, uint32_t room_size, const void *where,
					    uint32_t size)
{
	if (direct)
		return bpf_rdonly_cast(where, 0);
	if (size <= room_size)
		bpf_probe_read_kernel(room, size, where);
	return room;
}

/* One member of a structure. */
#define SEE(from, member)                                                                          \
	(direct ? ((const typeof(*(from)) *)bpf_rdonly_cast((from), 0))->member                    \
		: BPF_CORE_READ((from), member))
