#pragma once
/*
 * spawn -- start the command as if it were alone.
 *
 * Its descriptors, environment, process group, terminal, signal mask and
 * limits are what the caller of assay gave us, but for the variables that it
 * is told to have. It enters its control group
 * before exec, so not one instruction of it is missed.
 */
#include <signal.h>
#include <sys/resource.h>

#include "os/cgroup.h"

struct as_spawn {
	char **argv;
	char *const *environment; /* "NAME=value" besides ours; NULL: none */
	const int *standard;      /* its input, output and error; NULL: ours */
	const struct as_env *env;
	struct as_cgroup *cgroup;    /* may be NULL                  */
	sigset_t mask;               /* as it was before we changed it */
	struct sigaction chld, xfsz; /* likewise what these signals do */
	struct rlimit files;         /* likewise RLIMIT_NOFILE       */
};

/*
 * Start it. *ret_exec_errno is why exec failed, 0 when it runs; the child is
 * then already reaped and *ret_pid is 0.
 */
int as_spawn(const struct as_spawn *s, int32_t *ret_pid, int *ret_exec_errno, struct as_err *err);
