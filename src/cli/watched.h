#pragma once
/*
 * watched -- processes that somebody names, to be looked at beside the rest:
 * "[NAME=]PID" or "[NAME=]container:NAME".
 */
#include "cli/opt.h"
#include "load/side.h"

/* All of them, each with a name that no other has: its own, or its program's. */
int as_watched_parse(const struct as_env *env, const struct as_opt_list *words,
		     struct as_watched ret[AS_LOAD_TARGETS], struct as_err *err);
