#pragma once
/*
 * taking -- how the samples of a profile were taken: how many, how many were
 * rejected because the stack changed while it was read, and how many moments
 * came too late to be used. A profile of somebody else does not say: then it is
 * not known, and neither is the sum of it and another.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct as_taking {
	bool known;
	int64_t samples, rejected, late;
};

struct as_taking as_taking_sum(const struct as_taking *a, const struct as_taking *b);
/* The share that was rejected of all that were tried. */
double as_taking_rejected(const struct as_taking *t);
/* Is more than one in a hundred missing, rejected or late? Whoever looks should know then. */
bool as_taking_gaps(const struct as_taking *t);
/* "1,240 samples, 0.02 % rejected, 0 late"; nothing if it is not known. */
void as_put_taking(struct as_buf *out, const struct as_taking *t);
/* The same for machines, and back; unknown: it is no such text. */
void as_put_taking_exact(struct as_buf *out, const struct as_taking *t);
struct as_taking as_taking_scan(const char *p, size_t n);
