#include "base/calls.h"

static _Thread_local uint64_t calls;

void as_called(uint64_t n)
{
	calls += n;
}

uint64_t as_calls(void)
{
	return calls;
}
