#pragma once
/*
 * amount -- values of a profile as people read them: nanoseconds as a duration,
 * bytes as bytes, everything else as a count.
 */
#include <stdint.h>

#include "base/buf.h"
#include "profile/profile.h"

/* How a unit of pprof is shown: as "ns", "bytes" or "count", so many of them each. */
struct as_amount_unit {
	const char *unit; /* "milliseconds" */
	const char *shown;
	double each;
};

const struct as_amount_unit *as_amount_unit(const char *unit);

void as_put_amount(struct as_buf *out, const struct as_value_kind *kind, int64_t v);
/*
 * The first of the kinds that a reader wants to see, up to the last: those in one
 * unit with the last one, so samples are left out where there is time.
 */
size_t as_profile_first_kind(const struct as_profile *p);
/* Both kinds of a profile that compares two: "before" and "after". */
bool as_profile_compares(const struct as_profile *p, size_t *ret_before, size_t *ret_after);
