#pragma once
/*
 * right -- why another process may not be looked at, and what helps.
 *
 * The kernel says only "not permitted". Whose process it is, what we may and
 * how Yama is set tell which of its reasons it was.
 */
#include <sys/types.h>

#include "os/env.h"

/* Adds to an error that has been written what would have to be otherwise; returns its code. */
int as_right_hint(const struct as_env *env, pid_t pid, struct as_err *err);
