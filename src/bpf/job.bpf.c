/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* job -- the programs that follow a job's processes; one object, since they share its maps. */
#include "bpf/disk.h"
#include "bpf/life.h"
#include "bpf/tasks.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
