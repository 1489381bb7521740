#pragma once
/*
 * loop -- what the programs of bpf/loop.bpf.c keep of each thread that waits
 * for events, in memory that we read while they write.
 */
#include <stdint.h>

enum {
	AS_WIRE_LOOPS = 64,        /* threads                                       */
	AS_WIRE_LOOP_CALLS = 4,    /* that are told apart in one period             */
	AS_WIRE_LOOP_BITS = 5,     /* of the histogram: as_bucket_of(), stat/histogram.h */
	AS_WIRE_LOOP_LARGEST = 40, /* a period of 2^40 ns and more is in the last bucket */
	AS_WIRE_LOOP_BUCKETS = (AS_WIRE_LOOP_LARGEST - AS_WIRE_LOOP_BITS + 1) << AS_WIRE_LOOP_BITS,
	AS_WIRE_LOOP_RING = 256 << 10, /* bytes                                    */
};

/* Times are CLOCK_MONOTONIC of the kernel, durations ns. */
struct as_wire_loop {
	int32_t tid;
	int32_t wait;     /* the call that it waits in                             */
	uint64_t first;   /* when it was first seen                                */
	uint64_t since;   /* when the period began that goes on; 0: it waits       */
	uint64_t periods; /* that have ended                                       */
	uint64_t busy;    /* how long they were                                    */
	uint64_t over;    /* those of the threshold and longer                     */
	uint64_t max;

	/* for the programs alone */
	uint32_t waiting; /* it is in the call `wait`                              */
	uint32_t epolls;  /* it waits in epoll; poll would hold it                 */
	uint64_t delay;   /* how long it had been ready in its life, at the start  */
	uint64_t out;     /* when it left its CPU; 0: it has it                    */
	uint32_t slept;   /* … because it had to wait                              */
	int32_t call;     /* that it is in; -1: none                               */
	uint64_t off;     /* without a CPU in this period                          */
	struct {
		int32_t nr;
		uint32_t zero;
		uint64_t ns;
	} in[AS_WIRE_LOOP_CALLS]; /* waiting in calls, in this period              */

	uint32_t bucket[AS_WIRE_LOOP_BUCKETS];
};

/* One period that lasted as long as the threshold. */
struct as_wire_block {
	uint64_t start, ns;
	uint64_t cpu, ready; /* of it                                              */
	int32_t tid;
	int32_t call;     /* that took most of the rest; -1: none, as a page fault */
	uint64_t in_call; /* how much                                              */
};
