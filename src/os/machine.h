#pragma once
/*
 * machine -- what /proc says about the whole machine, as numbers.
 *
 * Parsers of text with a length, of which any part may be missing: what a
 * file does not say is AS_TEXT_NA.
 */
#include "os/text.h"

/*
 * One "cpu" line of /proc/stat, in clock ticks. The kernel counts guest time
 * twice (guest within user, guest_nice within nice): we take user and nice as
 * they stand and leave the guest columns alone.
 */
struct as_cpu_times {
	int32_t cpu;    /* number of the core; -1: the line of all  */
	int64_t user;   /* nice included                            */
	int64_t system; /* interrupts included                      */
	int64_t idle;   /* iowait not included                      */
	int64_t iowait; /* the kernel may take some of it back      */
	int64_t steal;
};

/*
 * The "cpu" line at the front of the text: its length with the newline, 0 when
 * there is none, it is cut off, or it makes no sense.
 */
size_t as_parse_cpu(const char *p, size_t n, struct as_cpu_times *ret);

/* A line of /proc/diskstats. */
struct as_disk_stat {
	char name[32];
	int64_t read_bytes, write_bytes, reads, writes;
	int64_t busy_ns; /* time with at least one request under way */
};

/* The line at the front of the text, as as_parse_cpu(). */
size_t as_parse_disk(const char *p, size_t n, struct as_disk_stat *ret);

/* Clock ticks as nanoseconds. */
int64_t as_ticks_ns(int64_t ticks, uint32_t hz);

/* /proc/meminfo, in bytes. */
struct as_meminfo {
	int64_t total, available;
	int64_t used;   /* total less available                               */
	int64_t cache;  /* page cache, buffers, reclaimable slab              */
	int64_t swap;   /* in use                                             */
	bool estimated; /* a kernel before 3.14: available is free and cache */
};

bool as_parse_meminfo(const char *p, size_t n, struct as_meminfo *ret);

/* /proc/loadavg: over 1, 5 and 15 minutes, in millionths. */
bool as_parse_loadavg(const char *p, size_t n, int64_t ret[3]);
/* The same file: threads that are on a CPU or ready for one, the reader among them. */
bool as_parse_ready(const char *p, size_t n, uint64_t *ret);

/* A pressure file: the stall times in ns. `full` is not in every one. */
struct as_pressure {
	int64_t some, full;
};

bool as_parse_pressure(const char *p, size_t n, struct as_pressure *ret);
