#pragma once
/*
 * merge -- one profile into another, and fewer, longer slices.
 *
 * Texts, places, stacks and tags are found again by what they are, so it does
 * not matter in which order each profile came to know them. Only what samples
 * need is taken over, and how they were taken (taking.h). A profile that is
 * sampled is handed over like this, piece by piece, and put together again by
 * whoever keeps it.
 */
#include "profile/profile.h"

/* An empty profile with the kinds, the period, the start and the slices of another. */
struct as_profile *as_profile_like(const struct as_profile *p, struct as_err *err);

/*
 * Add all of `from` to `into`. Values are matched by the names of their kinds;
 * what `into` has no kind for is left out. Slices keep their moments: those of
 * `from` go where they lie on the time of `into`. Whether memory was enough
 * tells as_profile_ok().
 */
void as_profile_merge(struct as_profile *into, const struct as_profile *from);

/* Forget the samples, but keep the stacks that they had: their numbers stay good. */
void as_profile_clear(struct as_profile *p);

/* Forget the samples that `gone` says are. */
void as_profile_drop(struct as_profile *p,
		     bool (*gone)(const void *context, const struct as_sample *s),
		     const void *context);

/* How many slices there are, the empty ones before the last included. */
size_t as_profile_slices(const struct as_profile *p);
/* Join slices two by two until they are at least so long. */
void as_profile_lengthen(struct as_profile *p, int64_t slice_ns);
/* … as often as it takes until there are at most so many. */
void as_profile_coarsen(struct as_profile *p, size_t most);
