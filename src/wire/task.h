#pragma once
/*
 * wire/task -- what BPF tells of the living: a record of each process of the job and,
 * where a process has several threads, one of each thread. They come in any order.
 */
#include <stddef.h>
#include <stdint.h>

#include "wire/life.h"

/* BRIEF: of a process whose `ended` is as it was when it was last told of, and not told. */
enum { AS_WIRE_PROCESS = 1, AS_WIRE_THREAD, AS_WIRE_BRIEF };

/*
 * A pass tells only of those that may have changed since it last told of them. The
 * program sets the number of the pass, and whether all are to be told of; how many
 * processes were as before is counted. What does not fit into the room is told when
 * it is asked again, from there on.
 */
struct as_wire_pass {
	uint32_t number;
	uint32_t all;
	uint64_t quiet;
	uint32_t from, told; /* private                                            */
	uint32_t more;       /* there is more to tell                              */
	uint32_t len;        /* bytes that were told                               */
	uint32_t missed;     /* births that were not heard: somebody must search   */
	uint32_t full;       /* some have no seat: what is told is not all, now and later */
};

/* Records one after another. */
struct as_wire_telling {
	_Alignas(8) char bytes[128 << 10];
};

/* Of one thread. */
struct as_wire_thread {
	uint32_t kind; /* not AS_WIRE_THREAD: the first of a process; its group follows */
	int32_t tid;
	int32_t pid;
	uint32_t reserved;
	uint64_t start;  /* CLOCK_BOOTTIME of its birth    */
	uint64_t slices; /* times it was put on a CPU      */
	char comm[AS_WIRE_COMM];
	struct as_wire_usage usage;
};

/* What the kernel has added up of those that ended. */
struct as_wire_ended {
	/* Of its threads, as /proc adds it up: I/O with that of children waited for. */
	struct as_wire_usage threads;
	uint64_t child_utime, child_stime, child_minflt, child_majflt; /* of children waited for */
};

/* Follows the record of the first thread. */
struct as_wire_group {
	int32_t parent;
	uint32_t threads;
	uint32_t state;      /* of the first thread; bits as the kernel has them, 0: running */
	uint32_t exit_state; /* 16 dead, 32 zombie                                           */
	uint64_t file, anon, swap, shmem; /* pages                                           */
	uint64_t hwm, vsize;              /* pages                                           */
	uint64_t files; /* open descriptors; AS_WIRE_UNKNOWN where there are very many         */
	struct as_wire_ended ended; /* not of a brief one: it is shorter                     */
};

struct as_wire_process {
	struct as_wire_thread first;
	struct as_wire_group group;
};
#define AS_WIRE_BRIEF_LEN offsetof(struct as_wire_process, group.ended)

_Static_assert(sizeof(struct as_wire_thread) == 48 + 15 * 8, "as both sides count");
_Static_assert(sizeof(struct as_wire_group) == 16 + 7 * 8 + 19 * 8, "as both sides count");
_Static_assert(sizeof(struct as_wire_process) == 168 + 224, "as both sides count");
