#pragma once
/*
 * pymodule -- what a module that a Python has imported calls by a name.
 */
#include "stack/pydict.h"

/* threading._active of an interpreter; 0: no such module, or nothing of that name in it. */
uint64_t as_pymodule_find(struct as_pyreader *r, uint64_t interp, const char *module,
			  const char *name);
