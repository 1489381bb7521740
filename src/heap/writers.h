#pragma once
/*
 * writers -- which of a process's threads writes to a ring.
 *
 * Threads have the numbers of their names. A number of the kernel's may come again
 * after its thread has ended: then it is another thread.
 */
#include "heap/names.h"

/* All zeros but for `names` is the beginning. */
struct as_writers {
	struct as_heap_names *names; /* gets the threads             */
	bool *claimed;               /* each has a ring, or had      */
	size_t cap;
};

/* Those that are too many to tell apart are thread 0's. False for want of memory. */
bool as_writers_claim(struct as_writers *w, uint32_t tid, uint32_t *ret);
void as_writers_done(struct as_writers *w);
