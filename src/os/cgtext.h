#pragma once
/*
 * cgtext -- the texts of control groups: where they are and what they count.
 *
 * Parsers of text with a length; what is not there is AS_TEXT_NA.
 */
#include "os/text.h"

/* A line of /proc/PID/cgroup: "4:memory:/a/b", "2:cpu,cpuacct:/", "0::/a" (v2). */
struct as_cg_line {
	bool v2;
	struct as_span controllers; /* "cpu,cpuacct" or "name=systemd"; "" in v2 */
	struct as_span path;        /* begins with '/'                           */
};

bool as_parse_cg_line(struct as_span line, struct as_cg_line *ret);

/* A line of /proc/PID/mountinfo, cgroup file systems only. Paths as they stand, escaped. */
struct as_cg_mount {
	bool v2;
	struct as_span root;    /* which part of the hierarchy is mounted    */
	struct as_span point;   /* where                                     */
	struct as_span options; /* of the file system: v1 has its controllers there */
};

/* False also for the mounts of other file systems. */
bool as_parse_cg_mount(struct as_span line, struct as_cg_mount *ret);

/* Is `word` one of the comma-separated words? */
bool as_span_lists(struct as_span list, const char *word);

/* A path of mountinfo with its \040 and the like undone; how long it is. `out` has room for p.n. */
size_t as_unescape(struct as_span p, char *out);

/*
 * Where a group is below a mount: `path` (of /proc/PID/cgroup) with the
 * mount's root taken off its front; "" for the root itself. False when the
 * mount does not show the group. In a control group namespace both may begin
 * with "/..", which then must agree as well.
 */
bool as_cg_below(struct as_span path, struct as_span root, struct as_span *ret);

/* A file with one number. "max", and v1's ways of saying it, are INT64_MAX. */
int64_t as_parse_cg_number(const char *p, size_t n);
int64_t as_cg_limit(int64_t v); /* the same of a number: v1's largest is INT64_MAX */

/* v2 cpu.max, or v1 cpu.cfs_quota_us and _period_us: CPUs' worth of time in millionths. */
int64_t as_parse_cpu_max(const char *p, size_t n);
int64_t as_cg_quota(int64_t quota_us, int64_t period_us);

/* Bytes read and written, all devices together. */
struct as_cg_io {
	int64_t read, write;
};

bool as_parse_io_stat(const char *p, size_t n, struct as_cg_io *ret); /* v2 io.stat          */
bool as_parse_blkio(const char *p, size_t n, struct as_cg_io *ret);   /* v1 io_service_bytes */
