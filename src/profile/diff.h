#pragma once
/*
 * diff -- two profiles as one that tells them apart.
 */
#include "profile/profile.h"

/* The kinds of a difference; the last two where something is known of its variance. */
enum { AS_BEFORE, AS_AFTER, AS_BEFORE_SPREAD, AS_AFTER_SPREAD };

/*
 * Two profiles, by function: kinds "before" and "after", each with what that
 * profile had of `kind` (a name; NULL: as as_profile_common() says). Tags,
 * slices and lines are left out. Functions are the same when name, file and
 * first line are; where an edit has moved them, name and file suffice.
 *
 * spread: the kind with the variances of `kind`, which become two more kinds; those of a
 * profile without are 0. NULL, or where neither has it: there are no such kinds.
 */
int as_profile_diff(const struct as_profile *before, const struct as_profile *after,
		    const char *kind, const char *spread, struct as_profile **ret,
		    struct as_err *err);

/*
 * The kind of both that `name` names, by their numbers. NULL: the main one of
 * both, else cpu, else the last one of `before` that `after` has. USAGE: there is none.
 */
int as_profile_common(const struct as_profile *before, const struct as_profile *after,
		      const char *name, size_t kind[2], struct as_err *err);
