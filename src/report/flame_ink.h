#pragma once
/*
 * flame_ink -- the colours of flame graphs: one for each file, the same in
 * every picture, by a hash of its name; and what stands for more and less in a
 * comparison (red and blue: told apart by those who do not see red and green).
 *
 * The viewer has them from here too, in its data.
 */
#include "profile/write.h"

enum { AS_FLAME_INKS = 12 };

extern const char *const as_flame_inks[AS_FLAME_INKS]; /* "#f2a65a" */
extern const char *const as_flame_root_ink;            /* of what has no file */
/* As much less, the same, as much more as there can be. */
extern const char *const as_flame_change_inks[3];

/* The number of the ink of a place; AS_FLAME_INKS: it has no file. */
size_t as_flame_ink(const struct as_profile *p, uint32_t place);
/* The ink of a change from -1 to 1. */
struct as_colour {
	char s[8];
} as_flame_change(double change);
