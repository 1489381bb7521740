#pragma once
/*
 * seek -- a process by its command line, and what its environment says.
 */
#include "os/env.h"

/*
 * The process that has run for the longest of those whose command line, its
 * words joined by spaces, holds the pattern (* and ? stand for any letters);
 * 0: there is none. Never we ourselves, nor who started us: their command
 * lines hold the pattern because they pass it on.
 */
int32_t as_seek_process(const struct as_env *env, const char *pattern);

/* When it was started, in ticks since boot: with its pid, who it is. -1: it is not there. */
int64_t as_seek_born(const struct as_env *env, int32_t pid);

/* The value of `name` in n bytes of KEY=VALUE, each ended by a NUL; NULL: not there. */
const char *as_environ_find(const char *p, size_t n, const char *name, size_t *ret_len);
/* Append the value of a variable of the process; false when it is not known. */
bool as_seek_variable(const struct as_env *env, int32_t pid, const char *name, struct as_buf *out);
