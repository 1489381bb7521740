#pragma once
/*
 * proc -- what /proc/PID/ says, as numbers.
 *
 * Parsers of text that the kernel may be rewriting: each takes the bytes read
 * and their length, and leaves AS_PROC_NA where a line or column is missing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_PROC_NA INT64_MIN

/* /proc/PID/stat. Times in clock ticks. */
struct as_proc_stat {
	int32_t pid, ppid;
	char state;
	bool exiting; /* on its way out: the end may be told any moment, or was */
	int64_t minflt, cminflt, majflt, cmajflt;
	int64_t utime, stime, cutime, cstime;
	int64_t threads;
	int64_t start; /* ticks since boot: with the pid, who it is   */
	int64_t vsize; /* bytes                                       */
	int64_t rss;   /* pages                                       */
	char comm[68]; /* as it stands; a name may hold ')' and spaces */
};

/* False when it is not a whole stat line. */
bool as_parse_stat(const char *p, size_t n, struct as_proc_stat *ret);

/* /proc/PID/status; bytes and counts. */
struct as_proc_status {
	int64_t hwm, rss, anon, file, shmem, swap;
	int64_t voluntary, forced; /* of the first thread */
};

void as_parse_status(const char *p, size_t n, struct as_proc_status *ret);

/* /proc/PID/smaps_rollup; bytes. The parts of PSS are told since Linux 5.4. */
struct as_proc_rollup {
	int64_t rss, pss;
	int64_t uss;  /* pages that nobody else has mapped */
	int64_t anon; /* resident, no file behind it       */
	int64_t pss_anon, pss_shmem;
};

bool as_parse_rollup(const char *p, size_t n, struct as_proc_rollup *ret);

/* /proc/PID/io. */
struct as_proc_io {
	int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes;
	int64_t cancelled; /* cancelled_write_bytes: written, then deleted in time */
};

void as_parse_io(const char *p, size_t n, struct as_proc_io *ret);

/* /proc/PID/schedstat: time on a CPU, time ready but waiting, times put on a CPU. */
struct as_proc_sched {
	int64_t run_ns, wait_ns, slices;
};

bool as_parse_sched(const char *p, size_t n, struct as_proc_sched *ret);

/* /proc/PID/timens_offsets: ns that clocks in its time namespace are ahead of the machine's. */
struct as_proc_clocks {
	int64_t monotonic, boottime;
};

/* False when it does not tell both. */
bool as_parse_clocks(const char *p, size_t n, struct as_proc_clocks *ret);

/* NSpid of /proc/PID/status: a thread's number here, and in its own (innermost) namespace. */
struct as_proc_ids {
	int32_t here, inside;
};

/* False when the line is missing. */
bool as_parse_ids(const char *p, size_t n, struct as_proc_ids *ret);
