#pragma once
/*
 * source -- the profile that a word on the command line means: the file of
 * that name, whatever its format ('-' is standard input), or else the stacks of
 * the run that it names, as `assay show` would find it.
 */
#include "base/buf.h"
#include "profile/profile.h"

int as_source_profile(const char *arg, struct as_profile **ret, struct as_err *err);
/* The same, and what a reader would call it: the file, or the run's name and id. */
int as_source_named(const char *arg, struct as_profile **ret, struct as_buf *name,
		    struct as_err *err);
/* The same, of a file whose format is known; NULL: told by its bytes. */
int as_source_profile_of(const char *arg, const char *format, struct as_profile **ret,
			 struct as_err *err);
