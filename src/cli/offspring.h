#pragma once
/*
 * offspring -- which processes one has started: advice for who named a parent that
 * only starts others (a shell, a wrapper, a server before its workers).
 */
#include "os/env.h"

/*
 * "it has started 8059 8060, which may do the work: assay loop 8059"; where `advice` ends
 * in a space the number of the first follows. False: none is known, and no hint was given.
 */
bool as_offspring_hint(const struct as_env *env, int pid, const char *advice, struct as_err *err);
