#pragma once
/*
 * target -- the file that a profile is written to: which format it has, by an
 * option or by its ending; '-' is standard output.
 */
#include "profile/write.h"

/* `format` is the option, or NULL. USAGE when nobody says, or nobody could read it there. */
int as_target_format(const char *path, const char *format, const struct as_profile_format **ret,
		     struct as_err *err);
int as_target_write(const struct as_profile *p, const struct as_profile_format *format,
		    const struct as_spelling *how, const char *path, FILE *standard,
		    struct as_err *err);
