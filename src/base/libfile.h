#pragma once
/*
 * libfile -- where a file that belongs to the program is: modules, helpers.
 *
 * $ASSAY_LIBDIR says so; else it is in ../lib/assay from the program, as it is
 * installed, or beside it, as it is built. A program that runs with more rights
 * than its caller has does not ask the caller.
 */
#include <stdbool.h>

enum { AS_LIBFILE_MAX = 4096 };

/* False: it is nowhere. */
bool as_libfile(const char *name, char ret[AS_LIBFILE_MAX]);
