#pragma once
/*
 * fault -- make the Nth risky call of this process fail, on purpose.
 *
 * Built in only with -Dtorture=true. tests/torture.py runs commands with
 * ASSAY_FAULT_AT=1, 2, 3, ...; each faulted run must end with a known exit
 * code, a message, and no leak. ASSAY_FAULT_COUNT names a file that receives
 * the number of risky calls made, so the test knows where to stop.
 *
 * All heap memory of assay comes from the functions below; `make lint`
 * refuses malloc and its family anywhere else.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef AS_TORTURE
bool as_fault(void);                /* true when this very call is the one to fail     */
void as_fault_arm(unsigned long n); /* from now on, the nth call fails; 0: none does   */
#else
static inline bool as_fault(void)
{
	return false;
}
#endif

static inline void *as_realloc(void *p, size_t n)
{
	return as_fault() ? NULL : realloc(p, n);
}

static inline void *as_zalloc(size_t n)
{
	return as_fault() ? NULL : calloc(1, n ? n : 1);
}

/* Bytes that a processor fetches from memory at once. */
enum { AS_LINE = 64 };

/* These bytes will be wanted soon. */
static inline void as_fetch(const void *p, size_t n)
{
	for (size_t at = 0; at < n; at += AS_LINE)
		__builtin_prefetch((const char *)p + at);
	__builtin_prefetch((const char *)p + n - 1); /* it may begin anywhere in a line */
}

/* An array of n things of `size` bytes, zeroed; NULL also when n * size overflows. */
static inline void *as_zalloc_n(size_t n, size_t size)
{
	size_t all; /* calloc() knows too, but clang drops calls whose memory nobody uses */

	if (as_fault() || __builtin_mul_overflow(n, size, &all))
		return NULL;
	return calloc(n ? n : 1, size);
}

static inline char *as_strndup(const char *s, size_t n)
{
	char *p = as_zalloc(n + 1);

	return p ? memcpy(p, s, n) : NULL;
}

static inline char *as_strdup(const char *s)
{
	return as_strndup(s, strlen(s));
}

/*
 * Make room for one more element of `size` bytes in a growing array: doubles,
 * starting at `first`. On failure the array stays as it was and 0 is returned.
 */
static inline bool as_grow(void *array, size_t *cap, size_t len, size_t size, size_t first)
{
	void *p;

	if (len < *cap)
		return true;
	size_t want = *cap ? *cap * 2 : first;
	if (want > SIZE_MAX / size)
		return false;
	memcpy(&p, array, sizeof p); /* `array` is the address of a T *, whatever T is */
	p = as_realloc(p, want * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof p);
	*cap = want;
	return true;
}
