#include "base/calls.h"

#include <errno.h>

static _Thread_local uint64_t calls;

void as_called(uint64_t n)
{
	calls += n;
}

uint64_t as_calls(void)
{
	return calls;
}

int as_write_all(int fd, const char *p, size_t n)
{
	while (n) {
		as_called(1);
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? errno : ENOSPC;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}
