/*
 * strange -- a library that allocs loads and unloads: its allocations are its own.
 */
#include <stdlib.h>

void *strange_alloc(size_t n);

__attribute__((noinline)) void *strange_alloc(size_t n)
{
	void *volatile p = malloc(n);

	return p;
}
