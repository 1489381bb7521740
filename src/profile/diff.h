#pragma once
/*
 * diff -- two profiles as one that tells them apart.
 */
#include "profile/profile.h"

enum { AS_BEFORE, AS_AFTER }; /* the kinds of a difference */

/*
 * Two profiles, by function: kinds "before" and "after", each with what that
 * profile had of `kind` (a name; NULL: the last kind, the one of time). Tags,
 * slices and lines are left out. Functions are the same when name, file and
 * first line are; where an edit has moved them, name and file suffice.
 */
int as_profile_diff(const struct as_profile *before, const struct as_profile *after,
		    const char *kind, struct as_profile **ret, struct as_err *err);
