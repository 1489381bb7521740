#pragma once
/*
 * env -- the world, through one handle.
 *
 * Everything that assay reads of the system is reached from here, so that a
 * captured tree can stand in for a machine: with ASSAY_ROOT=DIR the folders
 * DIR/proc, DIR/sys and DIR/sys/fs/cgroup are read instead of the real ones,
 * and DIR/env ("page 4096\nhz 100\ncpus 8\n") says what the machine would.
 * A folder that does not exist is -1: what lives there is then unavailable.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "os/proc.h"

struct as_env {
	int proc, sys, cgroup; /* O_PATH folders, or -1                     */
	uint32_t page;         /* bytes a page                              */
	uint32_t hz;           /* clock ticks a second in /proc (USER_HZ)   */
	int32_t cpus;          /* that this process may use                 */
	bool fixture;          /* a captured tree, not this machine         */
	/*
	 * ns that our clocks are ahead of those by which the kernel stamps events:
	 * 0, unless we are in a time namespace. /proc tells times by our clocks.
	 */
	struct as_proc_clocks ahead;
};

int as_env_open(struct as_env *env, struct as_err *err);
void as_env_close(struct as_env *env);
/* The CPUs that process `pid` may run on (its affinity mask); ours when it does not say. */
int32_t as_env_cpus(const struct as_env *env, int pid);

/* Read a whole small file below `dir` into `text` (NUL-terminated); how much, or an error. */
int as_read_at(int dir, const char *path, char *text, size_t size, size_t *ret_len,
	       struct as_err *err);
/* The same of a descriptor that is kept open: one pread() from the beginning. */
int as_read_fd(int fd, char *text, size_t size, size_t *ret_len, struct as_err *err);
/* A file of any length, appended to `out`. */
int as_read_all(int dir, const char *path, struct as_buf *out, struct as_err *err);
