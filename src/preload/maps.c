#include "preload/maps.h"

#include <fcntl.h>
#include <string.h>

#include "preload/sys.h"

static int next_char(struct as_maps *m)
{
	if (m->at == m->n) {
		long n = as_sys3(SYS_read, m->fd, (long)m->text, sizeof m->text);

		if (n <= 0)
			return -1;
		m->n = (size_t)n;
		m->at = 0;
	}
	return (unsigned char)m->text[m->at++];
}

/* A number in hexadecimal and what comes after it. */
static uint64_t next_hex(struct as_maps *m, int *ret_end)
{
	uint64_t v = 0;
	int c = next_char(m);

	for (; (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); c = next_char(m))
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	*ret_end = c;
	return v;
}

/* The rest of a line; is its last word this one? */
static bool rest_is(struct as_maps *m, const char *word)
{
	size_t same = 0, n = strlen(word);
	int c = next_char(m);

	for (; c >= 0 && c != '\n'; c = next_char(m))
		same = same < n && c == word[same] ? same + 1 : c == word[0];
	return same == n;
}

bool as_maps_open(struct as_maps *m)
{
	m->n = m->at = 0;
	m->fd = (int)as_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0,
			     0, 0);
	return m->fd >= 0;
}

void as_maps_close(struct as_maps *m)
{
	as_sys3(SYS_close, m->fd, 0, 0);
}

bool as_maps_next(struct as_maps *m, const char *name, struct as_maps_line *ret)
{
	int end;

	ret->start = next_hex(m, &end);
	if (end != '-')
		return false;
	ret->end = next_hex(m, &end);
	ret->named = rest_is(m, name);
	return true;
}
