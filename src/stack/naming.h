#pragma once
/*
 * naming -- what Python calls the threads of a process, kept from look to look.
 *
 * `threading` is asked when a thread is new, and once a second whether one has
 * been renamed since, where there are few. Who is in no list of its, or not yet,
 * keeps the kernel's name. Nothing that is read is believed to end: reads are
 * counted, and a thread that is renamed again and again keeps a name in the end.
 */
#include "stack/pyobject.h"
#include "stack/threads.h"

struct as_naming {
	struct as_pyreader reader;
	bool able;       /* objects of this version are known                 */
	int64_t next_ns; /* new threads are asked for no sooner; CLOCK_MONOTONIC */
};

void as_naming_init(struct as_naming *n, const struct as_python *py);
/* Names become texts of `to`; who has got another is no longer `known`. all: renamed ones, too. */
void as_naming_read(struct as_naming *n, struct as_pythreads *t, struct as_profile *to, int64_t now,
		    bool all);
