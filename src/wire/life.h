#pragma once
/*
 * wire/life -- what the BPF programs write into the ring buffer: one record for
 * each birth, exec and end of a process of the job (os/life.h says what they
 * mean). Both sides are compiled by different compilers for different machines,
 * so every member has a fixed size and its place is asserted.
 */
#include <stdint.h>

enum {
	AS_WIRE_COMM = 16,
	AS_WIRE_ARGS = 240,     /* as much of a command line as is told                */
	AS_WIRE_RING = 2 << 20, /* bytes of the ring: ends of 5,000 processes fit      */
};

enum as_wire_kind {
	AS_WIRE_BORN = 1, /* struct as_wire_life only */
	AS_WIRE_EXEC,     /* struct as_wire_exec      */
	AS_WIRE_DIED,     /* struct as_wire_end       */
	AS_WIRE_SETTLED,  /* struct as_wire_end       */
};

/* Who is named from outside: its children belong, or it belongs itself. */
enum as_wire_named { AS_WIRE_PARENT = 1, AS_WIRE_MEMBER };

struct as_wire_life {
	uint32_t kind;
	int32_t pid;    /* of the process (thread group), as the machine counts      */
	int32_t parent; /* of BORN: who forked it                                    */
	int32_t status; /* of DIED and SETTLED: as wait() tells it                   */
	uint64_t t;     /* CLOCK_MONOTONIC                                           */
	uint64_t start; /* CLOCK_BOOTTIME of its birth                               */
	char comm[AS_WIRE_COMM];
};

struct as_wire_exec {
	struct as_wire_life life;
	uint64_t len; /* of args */
	char args[AS_WIRE_ARGS];
};

/* Sums over threads; times in ns. utime and stime count ticks: only their ratio is good. */
struct as_wire_usage {
	uint64_t cpu, utime, stime, wait;
	uint64_t minflt, majflt;
	uint64_t voluntary, forced;
	uint64_t rchar, wchar, syscr, syscw;
	uint64_t read_bytes, write_bytes, cancelled_bytes;
};

struct as_wire_end {
	struct as_wire_life life;
	struct as_wire_usage usage;
	uint64_t hwm;     /* KiB; AS_WIRE_UNKNOWN                                    */
	uint64_t file;    /* KiB of mapped files at the end; AS_WIRE_UNKNOWN         */
	uint64_t threads; /* it ever had; AS_WIRE_UNKNOWN                            */
};

#define AS_WIRE_UNKNOWN UINT64_MAX

_Static_assert(sizeof(struct as_wire_life) == 48, "as both sides count");
_Static_assert(sizeof(struct as_wire_exec) == 48 + 8 + AS_WIRE_ARGS, "as both sides count");
_Static_assert(sizeof(struct as_wire_usage) == 15 * 8, "as both sides count");
_Static_assert(sizeof(struct as_wire_end) == 48 + 15 * 8 + 24, "as both sides count");
