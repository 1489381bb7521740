#pragma once
/*
 * sum -- several profiles as one.
 */
#include "profile/profile.h"

/*
 * Everything of all of them. Kinds of the same name are one kind; of a kind
 * that a profile has not, its samples have 0. Durations add up, the first start
 * counts, and the first's main kind. Slices stay where all have them and a known start.
 */
int as_profile_sum(const struct as_profile *const *p, size_t n, struct as_profile **ret,
		   struct as_err *err);
