#pragma once
/*
 * python -- a CPython in another process: found, and known how to read.
 *
 * The runtime is where a symbol or a section of a mapped file says; the file
 * is opened as the process itself would see it. If none says, it is looked for
 * in the variables (scan.h). Then a test: the first interpreter must lead to a
 * thread that leads back to it. What does not pass
 * is refused, so nothing later has to ask whether this is Python at all.
 */
#include <sys/types.h>

#include "base/clock.h"
#include "os/env.h"
#include "pyabi/layout.h"

struct as_python {
	pid_t pid;
	uint64_t runtime; /* address of _PyRuntime               */
	uint32_t version; /* as PY_VERSION_HEX; 0x030b07f0       */
	struct as_py_layout at;
};

/* What the mapped files said, kept from one look to the next; all zeros before the first. */
struct as_python_files {
	uint64_t are;      /* which they were: a sum over them; 0: look into them all */
	uint64_t runtime;  /* where it is in the process; 0: not in one of them       */
	uint64_t version;  /* the same of Py_Version                                  */
	unsigned by_paths; /* minor version that some path names; 0                   */
	bool two;          /* some path names Python 2                                */
};

/*
 * ENOTFOUND: no such process. EUNSUP: no Python in it, or one that is not
 * known, or none yet: a process that has just begun may become one.
 */
int as_python_find(const struct as_env *env, pid_t pid, struct as_python *ret, struct as_err *err);
/* The same for who asks again: files are looked into when others are mapped than last time. */
int as_python_find_again(const struct as_env *env, pid_t pid, struct as_python_files *known,
			 struct as_python *ret, struct as_err *err);
/* The same of a process that may have just begun and become a Python: look for half a second. */
int as_python_await(const struct as_env *env, pid_t pid, struct as_python *ret, struct as_err *err);
#define AS_PYTHON_PATIENCE (AS_SECOND / 2)
