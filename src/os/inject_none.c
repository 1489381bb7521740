/* inject_none -- where we know no instructions for it. */
#include "os/inject.h"

bool as_inject_can(void)
{
	return false;
}

enum as_inject_result as_inject(struct as_inject *i)
{
	i->at = 0;
	return AS_INJECT_ELSEWHERE;
}

void as_inject_release(const struct as_inject *i)
{
	(void)i;
}

enum as_inject_result as_inject_undo(struct as_inject *i)
{
	(void)i;
	return AS_INJECT_ELSEWHERE;
}
