#pragma once
/* wire/disk -- what the job sent to block devices, counted by BPF in memory that both sides see. */
#include <stdint.h>

struct as_wire_disk {
	uint64_t read_bytes, write_bytes;
	uint64_t reads, writes;
};
