#pragma once
/*
 * timeline -- a profile over time: what each slice had, and the function that
 * took most of it.
 */
#include "profile/profile.h"

struct as_slice_sum {
	uint32_t slice;
	uint32_t place; /* of the function with the most `self`; 0: none */
	int64_t v[AS_VALUES_MAX];
};

/* The slices that have samples, in order; the function by this kind. Caller frees *ret. */
int as_profile_timeline(const struct as_profile *p, size_t kind, struct as_slice_sum **ret,
			size_t *ret_n, struct as_err *err);
