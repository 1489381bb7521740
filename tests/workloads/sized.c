/*
 * sized -- a library that brings that of C++ to a program without one. The operators that it
 * calls are some that only jump to another: from there nobody but the first is a caller.
 */
#include <stddef.h>

void *cxx_new_array(size_t n) __asm__("_Znam");
void cxx_delete_array_sized(void *p, size_t n) __asm__("_ZdaPvm");
void cxx_delete_sized(void *p, size_t n) __asm__("_ZdlPvm");

void *sized_new(void);
void sized_delete(void *p);
void sized_delete_array(void *p);

__attribute__((noinline)) void *sized_new(void)
{
	void *volatile p = cxx_new_array(613);

	return p;
}

void sized_delete(void *p)
{
	cxx_delete_sized(p, 613);
}

void sized_delete_array(void *p)
{
	cxx_delete_array_sized(p, 613);
}
