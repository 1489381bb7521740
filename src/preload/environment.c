#include "preload/environment.h"

#include <string.h>
#include <unistd.h>

#include "wire/heap.h"

/* The entry's place, NULL: there is none. */
static char **entry(const char *name)
{
	size_t n = strlen(name);

	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, name, n) && (*e)[n] == '=')
			return e;
	return NULL;
}

static void take_out(char **e)
{
	for (; *e; e++)
		e[0] = e[1];
}

static const char *number(const char *s, long *ret)
{
	*ret = 0;
	for (; *s >= '0' && *s <= '9' && *ret < 100000000; s++)
		*ret = *ret * 10 + (*s - '0');
	return s;
}

bool as_environment_read(struct as_environment *ret)
{
	char **e = entry(AS_WIRE_HEAP_ENV);
	const char *s = e ? *e + sizeof AS_WIRE_HEAP_ENV : "";
	size_t n;

	s = number(s, &ret->pid);
	if (ret->pid && *s++ != ':')
		return false;
	n = strlen(s);
	if (*s != '/' || n >= sizeof ret->path)
		return false;
	memcpy(ret->path, s, n + 1);
	return true;
}

/* The digits of a number, from the end of `ret` on. */
static const char *digits(long n, char ret[24])
{
	char *s = ret + 23;

	*s = '\0';
	do
		*--s = (char)('0' + n % 10);
	while (n /= 10);
	return s;
}

static char *put(char *to, const char *end, const char *s)
{
	while (*s && to < end)
		*to++ = *s++;
	return to;
}

void as_environment_only(const struct as_environment *e, long pid, char *room, size_t size)
{
	char **at = entry(AS_WIRE_HEAP_ENV), text[24];
	char *to = room, *end = room + size - 1;

	if (!at)
		return;
	to = put(to, end, AS_WIRE_HEAP_ENV "=");
	to = put(to, end, digits(pid, text));
	to = put(to, end, ":");
	*put(to, end, e->path) = '\0';
	*at = room;
}

/* --- LD_PRELOAD ----------------------------------------------------------------------- */

/* Bytes up to the next of what the loader takes as ends: ':' and ' '. */
static size_t word(const char *s)
{
	return strcspn(s, ": ");
}

static bool ours(const char *s, size_t n)
{
	size_t name = sizeof AS_WIRE_HEAP_LIBRARY - 1;

	return n >= name && !memcmp(s + n - name, AS_WIRE_HEAP_LIBRARY, name) &&
	       (n == name || s[n - name - 1] == '/');
}

/* What is left of the list without us, in place. False: nothing. */
static bool without_us(char *list)
{
	char *to = list;

	for (char *s = list; *s;) {
		size_t n = word(s);

		if (n && !ours(s, n)) {
			if (to != list)
				*to++ = ':';
			memmove(to, s, n);
			to += n;
		}
		s += n + (s[n] != '\0');
	}
	*to = '\0';
	return to != list;
}

void as_environment_leave(void)
{
	char **e = entry(AS_WIRE_HEAP_ENV), **preload;

	if (e)
		take_out(e);
	preload = entry("LD_PRELOAD");
	if (preload && !without_us(*preload + sizeof "LD_PRELOAD"))
		take_out(preload);
}
