#pragma once
/*
 * locals -- the variables of a frame: its arguments and whatever its function
 * names. Those of a module or a class body are no such variables.
 */
#include "stack/pyobject.h"
#include "stack/snapshot.h"

enum { AS_PYLOCALS_MOST = 64 };

struct as_pylocal {
	uint64_t name;  /* a str   */
	uint64_t value; /* any object; never 0: those that have no value yet are left out */
};

/* In the order of the function's own names; how many. */
size_t as_pylocals(struct as_pyreader *r, const struct as_pyframe *f,
		   struct as_pylocal local[AS_PYLOCALS_MOST]);
