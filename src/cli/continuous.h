#pragma once
/*
 * continuous -- a service is recorded for a while, again and again: each time
 * one run of kind "profile" with its stacks and what it used, so that all that
 * finds, adds up and removes runs does so with these too.
 */
#include "cli/measure.h"
#include "store/store.h"

struct as_service {
	const char *name, *version, *project, *zone;
	const char *match;        /* its command line; NULL: the pid of the measurement */
	int64_t every_ns, for_ns; /* from one beginning to the next; how long            */
	struct as_keep keep;
	bool json, quiet;
};

/* Until the target is gone (one of a pattern may come again) or somebody says stop. */
int as_continuous(const struct as_service *service, const struct as_measure *m, struct as_io *io,
		  struct as_err *err);
