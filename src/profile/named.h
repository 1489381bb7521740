#pragma once
/*
 * named -- what the functions of one name had in a profile.
 */
#include "profile/profile.h"

struct as_named {
	int64_t self, total; /* total: it or whatever it called                */
	int64_t of;          /* what all stacks had                            */
};

struct as_named as_profile_named(const struct as_profile *p, size_t kind, const char *name);
