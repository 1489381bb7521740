#pragma once
/*
 * watched -- processes that somebody names, to be looked at beside the rest:
 *
 *	[NAME=]PID
 *	[NAME=]container:NAME
 *	[NAME=]port:9001           who listens there; port:9001-9003: each of them
 *	[NAME=]env:VARIABLE        who was started with it, one for each: NAME-VALUE
 *	[NAME=]cmd:PATTERN         whose command line holds it: NAME, NAME-2 …
 *
 * A process that another of those started is a part of that.
 */
#include "cli/opt.h"
#include "load/side.h"

/*
 * All of them, each with a name that no other has: its own, or its program's. With `setup`, a
 * command that we gave to a shell, env: and cmd: find what that has started, and not the shell,
 * whose command line holds it all; NULL: they find anybody.
 */
int as_watched_parse(const struct as_env *env, const struct as_opt_list *words, const char *setup,
		     struct as_watched ret[AS_LOAD_TARGETS], size_t *ret_n, struct as_err *err);
