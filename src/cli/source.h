#pragma once
/*
 * source -- the profile that a word on the command line means: the file of
 * that name, whatever its format ('-' is standard input), or else the stacks of
 * the run that it names, as `assay show` would find it.
 */
#include "base/buf.h"
#include "profile/profile.h"

struct as_sought {
	const char *word;
	const char *store;  /* where runs are; NULL: where they usually are           */
	const char *format; /* of a file; NULL: told by its bytes; else it is no run  */
};

/* `name` is appended what a reader would call it: the file, or the run's name and id. */
int as_source_find(const struct as_sought *s, struct as_profile **ret, struct as_buf *name,
		   struct as_err *err);
/* The same, without a name. */
int as_source_profile(const struct as_sought *s, struct as_profile **ret, struct as_err *err);
