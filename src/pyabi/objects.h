#pragma once
/*
 * objects -- where CPython keeps what a dump wants to read, as data.
 *
 * What layout.h is for stacks. One row a minor version, measured from its
 * headers; NO says that a version has no such thing. Freestanding.
 */
#include "pyabi/layout.h"

/* struct _gil_runtime_state with its locks: the same in all versions. */
enum { AS_PY_GIL_SIZE = 208 };

struct as_py_objects {
	uint32_t minor; /* of version 3 */
	uint32_t gil;   /* in the runtime; until 3.11 */
};

/* NULL: a version whose objects we do not know. */
const struct as_py_objects *as_py_objects(unsigned minor);
