#include "run/rollouts.h"

#include <stddef.h>
#include <string.h>

void as_rollouts_copy(struct as_rollouts *to, const struct as_rollouts *from)
{
	memcpy(to, from, offsetof(struct as_rollouts, tool));
	as_histogram_merge(&to->tool, &from->tool);
	as_histogram_merge(&to->verify, &from->verify);
	as_histogram_merge(&to->seed, &from->seed);
}
