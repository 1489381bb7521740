#pragma once
/*
 * picture -- what a flame graph is written as: by an option, or by the ending
 * of the file's name.
 */
#include "report/flame.h"

typedef int (*as_picture)(struct as_buf *out, const struct as_profile *p,
			  const struct as_flame_how *how, struct as_err *err);

/* `format` is "svg" or "html", or NULL. USAGE when nobody says. */
int as_picture_of(const char *path, const char *format, as_picture *ret, struct as_err *err);
