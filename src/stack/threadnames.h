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

/* All threads of an interpreter that `threading` knows, one after the other. */
struct as_threadnames {
	struct as_pydict active;
};

/* False: it was never imported, or cannot be read. */
bool as_threadnames_open(struct as_pyreader *r, uint64_t interp, struct as_threadnames *ret);
/* What Python calls its ident, which is pthread_self(), and the Thread object; false: no more. */
bool as_threadnames_next(struct as_threadnames *n, uint64_t *ret_ident, uint64_t *ret_object);
/* What a Thread object says. */
void as_threadname_of(struct as_pyreader *r, uint64_t object, struct as_threadname *ret);
