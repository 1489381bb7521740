/*
 * ownmalloc -- a program with an allocator inside, as one that is linked with a
 * static jemalloc: its malloc is the first that everybody finds.
 */
#include "work.h"

enum { ARENA = 64 << 20, ALIGN = 16 };

static char *arena;
static size_t used;

void *malloc(size_t n)
{
	size_t at = used;

	if (!arena)
		arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	used += ALIGN + (n + ALIGN - 1) / ALIGN * ALIGN;
	if (used > ARENA)
		return NULL;
	*(size_t *)(arena + at) = n;
	return arena + at + ALIGN;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* what is mapped is zero, and given once */
}

void *realloc(void *p, size_t n)
{
	size_t had = p ? *(size_t *)((char *)p - ALIGN) : 0;
	char *to = malloc(n);

	for (size_t i = 0; to && i < n && i < had; i++)
		to[i] = ((char *)p)[i];
	return to;
}

int main(void)
{
	for (int i = 0; i < 1009; i++) {
		char *volatile p = malloc(211);

		if (!p)
			fail("malloc");
		free(p);
	}
	printf("%zu bytes\n", used - used % 1000);
	return 0;
}
