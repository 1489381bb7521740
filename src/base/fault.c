#include "base/fault.h"

#ifdef AS_TORTURE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_ulong calls;
static unsigned long fail_at;

__attribute__((constructor)) static void arm(void)
{
	const char *s = getenv("ASSAY_FAULT_AT");

	for (; s && *s >= '0' && *s <= '9'; s++)
		fail_at = fail_at * 10 + (unsigned long)(*s - '0');
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("ASSAY_FAULT_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		(void)fprintf(f, "%lu\n", atomic_load(&calls));
		(void)fclose(f);
	}
}

void as_fault_arm(unsigned long n)
{
	atomic_store(&calls, 0);
	fail_at = n;
}

bool as_fault(void)
{
	bool now = atomic_fetch_add(&calls, 1) + 1 == fail_at;

	if (now)
		errno = ENOMEM; /* as of malloc(), so that nobody tells of an older one */
	return now;
}
#else
typedef int as_fault_is_compiled_out; /* an empty file is not valid C */
#endif
