#pragma once
/*
 * file -- what the programs of bpf/files.bpf.c keep of each file that the job
 * reads or writes.
 */
#include <stdint.h>

enum { AS_WIRE_READ, AS_WIRE_WRITE, AS_WIRE_DIRECTIONS };

enum {
	AS_WIRE_PATH = 512,
	AS_WIRE_NAME = 64, /* of one component; a longer one is cut off */
	AS_WIRE_FILES = 8192,
};

struct as_wire_file_key {
	uint64_t inode;
	uint32_t device;
	uint32_t zero;
};

struct as_wire_file {
	uint64_t bytes[AS_WIRE_DIRECTIONS];
	uint64_t calls[AS_WIRE_DIRECTIONS];
	uint64_t ns[AS_WIRE_DIRECTIONS]; /* spent in these calls       */
	uint32_t path_len;
	uint32_t zero;
	char path[AS_WIRE_PATH]; /* components, last first, each ended by NUL */
};
