#pragma once
/*
 * follow -- a copy of a profile that somebody else goes on adding to.
 *
 * What a profile holds is never taken out and keeps its number. So a copy that
 * was made of the same kinds takes over what is new, in order, and each thing
 * has the same number in both. That is cheap enough to be done while the other
 * is kept waiting; whatever takes time is then done with the copy.
 */
#include "profile/profile.h"

/* Make `copy` what `of` is by now. The copy turns bad as any profile does. */
void as_profile_follow(struct as_profile *copy, const struct as_profile *of);
