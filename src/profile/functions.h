#pragma once
/*
 * functions -- a profile by function: which places are in the same one, and
 * what each function had.
 */
#include "profile/profile.h"

/*
 * For each place the first place of the same function (name, file and first
 * line). NULL for want of memory; caller frees.
 */
uint32_t *as_profile_functions(const struct as_profile *p);

struct as_function_sum {
	uint32_t place;      /* one of it                                         */
	int64_t self, total; /* total: it or whatever it called; recursion once   */
};

#define AS_TOTAL_UNKNOWN INT64_MIN

/* The kind that totals of this one are told by, often itself; AS_VALUES_MAX: they are unknown. */
size_t as_profile_total_kind(const struct as_profile *p, size_t kind);

/* All functions that have anything of this kind, the most `self` first. Caller frees *ret. */
int as_profile_sums(const struct as_profile *p, size_t kind, struct as_function_sum **ret,
		    size_t *ret_n, struct as_err *err);
