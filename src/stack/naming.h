#pragma once
/*
 * naming -- what Python calls the threads of a process, kept from look to look.
 *
 * `threading` is asked when a thread is new, again after ever longer pauses while
 * one has no name of it, and once a second whether one has been renamed since,
 * where there are few. Who is in no list of its, or not yet, keeps the kernel's
 * name. Nothing that is read is believed to end: reads are counted, and a thread
 * that is renamed again and again keeps a name in the end.
 */
#include "stack/pyobject.h"
#include "stack/threads.h"

struct as_naming {
	struct as_pyreader reader;
	bool able;        /* objects of this version are known                 */
	bool wanting;     /* a thread has no name yet                          */
	int64_t read_ns;  /* when it was last asked, CLOCK_MONOTONIC           */
	int64_t pause_ns; /* that new threads wait then                       */
};

void as_naming_init(struct as_naming *n, const struct as_python *py);
/* One that has none may have got a name by now. */
bool as_naming_due(const struct as_naming *n, int64_t now);
/* Names become texts of `to`; who has got another is no longer `known`. all: renamed ones, too. */
void as_naming_read(struct as_naming *n, struct as_pythreads *t, struct as_profile *to, int64_t now,
		    bool all);
