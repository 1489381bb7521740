#pragma once
/*
 * tagged -- tags as the first frames of their stacks, "thread 7" and "name
 * worker": for formats of stacks, or of calls, that have no place for tags.
 */
#include "profile/write.h"

/*
 * What is to be written: `p`, or, when tags are asked for, one with such frames,
 * which is *ret_own and the caller's. NULL: without memory.
 */
const struct as_profile *as_profile_tagged(const struct as_profile *p,
					   const struct as_spelling *how,
					   struct as_profile **ret_own);
