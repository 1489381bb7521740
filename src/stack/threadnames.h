#pragma once
/*
 * threadnames -- what Python's own `threading` says of its threads.
 *
 * The kernel's name of a thread is as a rule that of the program, until 3.13.
 */
#include "base/buf.h"
#include "stack/pymodule.h"
#include "stack/threads.h"

struct as_threadname {
	struct as_buf name; /* empty: unknown; the caller's to release */
	bool known;         /* threading has it, and says …            */
	bool daemon;        /* … whether the program waits for its end */
};

void as_threadname_read(struct as_pyreader *r, const struct as_pythread *t,
			struct as_threadname *ret);
