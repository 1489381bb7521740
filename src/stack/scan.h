#pragma once
/*
 * scan -- the runtime of a CPython that no symbol and no section names.
 *
 * It is somewhere in the variables of a mapped file. From 3.13 on it begins
 * with eight letters. Before, it holds a pointer to the first interpreter, one
 * to the main one, and how many there have been; and some other variable holds
 * the text of sys.version. What looks like that is tried before it is believed.
 */
#include "base/buf.h"
#include "stack/python.h"

/* The version of which the variables speak ("3.10.13 (main, …"), as PY_VERSION_HEX; 0: none. */
uint32_t as_scan_version(pid_t pid, const struct as_buf *maps);
/* False: nothing was found that passes as_trial_names(). */
bool as_scan_runtime(pid_t pid, const struct as_buf *maps, struct as_python *ret);
