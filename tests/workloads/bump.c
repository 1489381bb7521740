/*
 * bump -- an allocator that can be left at any moment, by a jump too: memory is
 * taken from the front of one large mapping, and none is given back.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD = 16 };
static const size_t all = (size_t)8 << 30;
static _Atomic(char *) first;
static _Atomic size_t used;

static char *memory(void)
{
	char *p = first, *was = NULL;

	if (p)
		return p;
	p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		 0);
	return atomic_compare_exchange_strong(&first, &was, p) ? p : was;
}

void *malloc(size_t size)
{
	size_t whole = (size + HEAD + 15) & ~(size_t)15;
	char *p = memory() + atomic_fetch_add(&used, whole);

	memcpy(p, &size, sizeof size);
	return p + HEAD;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

void free(void *p)
{
	(void)p;
}

void *realloc(void *p, size_t size)
{
	void *to = malloc(size);
	size_t had = 0;

	if (p)
		memcpy(&had, (char *)p - HEAD, sizeof had);
	if (p)
		memcpy(to, p, had < size ? had : size);
	return to;
}
