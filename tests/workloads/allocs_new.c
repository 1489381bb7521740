/*
 * allocs_new -- a program whose every C++ allocation is known (allocs.h), in C:
 * the operators under the names that compilers give them.
 */
#include "allocs.h"

#define KNOWN __attribute__((noinline))

void *cxx_new(size_t n) __asm__("_Znwm");
void *cxx_new_array(size_t n) __asm__("_Znam");
void cxx_delete(void *p) __asm__("_ZdlPv");
void cxx_delete_sized(void *p, size_t n) __asm__("_ZdlPvm");
void cxx_delete_array(void *p) __asm__("_ZdaPv");

KNOWN static void *by_new(size_t n)
{
	return MADE(cxx_new(n), n);
}

KNOWN static void *by_new_array(size_t n)
{
	return MADE(cxx_new_array(n), n);
}

static void work(void)
{
	for (int i = 0; i < 37; i++) {
		void *p = by_new(601), *q = by_new(607), *r = by_new_array(613);

		GONE(p);
		cxx_delete(p);
		GONE(q);
		cxx_delete_sized(q, 607);
		GONE(r);
		cxx_delete_array(r);
	}
	(void)by_new(617);
}

int main(void)
{
	work();
	alloc_tell();
	return 0;
}
