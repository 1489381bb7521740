#pragma once
/*
 * variants -- kinds with the rate that they were sampled at.
 *
 * What a sampled allocation stands for is settled when it is made. Rates
 * change seldom, so a kind has one or two of them; with each it has a number
 * of its own, and events need say no more.
 */
#include "base/index.h"

struct as_variant {
	uint64_t rate;
	uint32_t kind;
};

struct as_variants {
	struct as_variant *at;
	size_t n, cap;
	struct as_index index;
};

/* Its number, a new one when *ret_new; AS_NOWHERE for want of memory. */
uint32_t as_variants_number(struct as_variants *v, uint32_t kind, uint64_t rate, bool *ret_new);
/* The next number; false for want of memory. */
bool as_variants_add(struct as_variants *v, uint32_t kind, uint64_t rate);
void as_variants_done(struct as_variants *v);
