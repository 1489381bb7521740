#pragma once
/*
 * life_parse -- the bytes in which the kernel tells births and deaths by
 * netlink: events of the proc connector, and taskstats of ended threads.
 *
 * Pure functions of one datagram. They read no byte past the length given and
 * say false for whatever is not exactly what they look for.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No number is larger, and no sum of them. */
#define AS_STATS_MOST (INT64_MAX / 4)

/* ── the proc connector ───────────────────────────────────────────────── */

enum as_cn_what { AS_CN_ACK, AS_CN_FORK, AS_CN_EXEC, AS_CN_EXIT };

struct as_cn {
	enum as_cn_what what;
	int32_t tid, pid; /* the thread and its process; of FORK the new one      */
	int32_t parent;   /* FORK: its parent's process                           */
	int32_t code;     /* EXIT: as of wait(2); ACK: 0, or the errno of refusal */
	int64_t t_ns;     /* CLOCK_MONOTONIC                                      */
};

bool as_parse_cn(const void *p, size_t n, struct as_cn *ret);

/* ── taskstats ────────────────────────────────────────────────────────── */

/* What one thread used. A kernel that is older than a field leaves it 0. */
struct as_task_stats {
	int32_t tid;
	char comm[16];
	int64_t lived_ns; /* from its birth until it began to end */
	int64_t cpu_ns, wait_ns;
	int64_t user_us, sys_us; /* as the tick saw it: only their ratio is of use */
	int64_t minflt, majflt, voluntary, forced;
	int64_t rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled_bytes;
	int64_t hwm; /* bytes */
};

bool as_parse_taskstats(const void *p, size_t n, uint16_t family, struct as_task_stats *ret);
/* The number of a generic netlink family, from the answer to a question for it; 0: not in it. */
uint16_t as_parse_family(const void *p, size_t n);
/* The errno of an NLMSG_ERROR (0: done), or -1 when it is something else. */
int as_parse_refusal(const void *p, size_t n);
