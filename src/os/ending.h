#pragma once
/*
 * ending -- how a process ended, for who is not its parent.
 *
 * While it waits to be reaped /proc says so; afterwards its pidfd does, since
 * Linux 6.15. Before that nobody knows.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "os/env.h"

/* As wait() would say it; false: unknown. */
bool as_ending(int pidfd, const struct as_env *env, pid_t pid, int *ret_status);
