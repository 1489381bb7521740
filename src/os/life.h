#pragma once
/*
 * life -- births, execs and deaths of the processes of a job, told by the
 * kernel as they happen, so that no child is too short to be seen.
 *
 * Two sources tell them: BPF programs (filtered in the kernel, exact) and, where
 * BPF is not allowed, the proc connector with taskstats. Both speak this
 * language, so whoever listens does not know which one it is, and both may
 * speak at once while one takes over from the other: an event that was told
 * already is no news.
 *
 * Who belongs is decided by ancestry at the moment of the fork: a child of a
 * member is a member for life, whatever becomes of its parent, session or
 * group. The first members are named by the listener: as_life_ops.parent() (our
 * own pid: what we start belongs, we do not) or .member() (it was there before).
 */
#include <stdint.h>

#include "base/err.h"
#include "os/env.h"

enum as_life_kind {
	AS_LIFE_BORN,     /* forked; comm is its parent's                         */
	AS_LIFE_EXEC,     /* another program: comm and args are new               */
	AS_LIFE_THREADED, /* it has a second thread; not told by BPF             */
	AS_LIFE_DIED,     /* its last thread ended: status and usage              */
	AS_LIFE_SETTLED,  /* some ms later: the same usage, exact to the last ns  */
};

/* What it used in its life, all threads, without its children; AS_PROC_NA where not told. */
struct as_life_usage {
	int64_t cpu_ns;          /* on a CPU, by the scheduler's clock           */
	int64_t user_ns, sys_ns; /* the same, split                              */
	int64_t wait_ns;         /* ready, waiting for a CPU                     */
	int64_t minflt, majflt;
	int64_t voluntary, forced; /* context switches                           */
	int64_t read_bytes, write_bytes, cancelled_bytes;
	int64_t rchar, wchar, syscr, syscw;
	int64_t hwm;     /* bytes: largest resident size of its last program     */
	int64_t file;    /* bytes of mapped files that it had at its end         */
	int64_t threads; /* it ever had                                          */
};

struct as_life {
	enum as_life_kind kind;
	int32_t pid, parent; /* parent: who forked it; of BORN only          */
	int64_t t_ns;        /* CLOCK_MONOTONIC                              */
	int64_t start_ns;    /* CLOCK_BOOTTIME of its birth; AS_PROC_NA      */
	char comm[16];       /* NUL-terminated; "" when not told             */
	const char *args;    /* EXEC: NUL between arguments; may be cut off  */
	size_t args_len;
	int32_t status; /* DIED: wait status                                 */
	struct as_life_usage usage;
};

typedef void as_life_fn(void *data, const struct as_life *life);

struct as_life_source;

struct as_life_ops {
	const char *name; /* "BPF", "proc connector and taskstats": printed    */
	/* Refused (AS_EPERM, AS_EUNSUPPORTED …) is usual: then the next rung is tried. */
	int (*open)(struct as_life_source **ret, const struct as_env *env, struct as_err *err);
	/* A descriptor that polls readable when there is something to drain. */
	int (*fd)(const struct as_life_source *s);
	int (*parent)(struct as_life_source *s, int32_t pid, struct as_err *err);
	int (*member)(struct as_life_source *s, int32_t pid, struct as_err *err);
	/* It was on its way out when it was named: nothing is told of it. NULL: never needed. */
	void (*forget)(struct as_life_source *s, int32_t pid);
	/* Tell all that happened since; never blocks. 1: there was something, if of others. */
	int (*drain)(struct as_life_source *s, as_life_fn *fn, void *data, struct as_err *err);
	/*
	 * Have SETTLED told now of whatever left the CPU for good; how many threads did not
	 * yet. NULL: it is never told.
	 */
	uint32_t (*settle)(struct as_life_source *s);
	/* Events that the kernel had no room for, so far. */
	uint64_t (*lost)(const struct as_life_source *s);
	void (*close)(struct as_life_source *s); /* NULL is fine */
};

extern const struct as_life_ops as_life_netlink; /* os/life_netlink.c */
extern const struct as_life_ops as_life_bpf;     /* os/life_bpf.c     */
