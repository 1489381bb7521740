#include "preload/environment.h"

#include <string.h>
#include <unistd.h>

#include "wire/heap.h"

#define PRELOAD "LD_PRELOAD"

/* Where the entry is; as many as there are: there is none. */
static size_t place(char *const *in, const char *name)
{
	size_t n = strlen(name), i = 0;

	while (in && in[i] && (strncmp(in[i], name, n) != 0 || in[i][n] != '='))
		i++;
	return i;
}

/* The entry's place, NULL: there is none. */
static char **entry(const char *name)
{
	size_t i = place(environ, name);

	return environ && environ[i] ? &environ[i] : NULL;
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

void as_environment_entry(const struct as_environment *e, long pid, char *room, size_t size)
{
	char *to = room, *end = room + size - 1, text[24];

	to = put(to, end, AS_WIRE_HEAP_ENV "=");
	if (pid) {
		to = put(to, end, digits(pid, text));
		to = put(to, end, ":");
	}
	*put(to, end, e->path) = '\0';
}

void as_environment_set(char *is)
{
	char **at = entry(AS_WIRE_HEAP_ENV);

	if (at)
		*at = is;
}

const char *as_environment_get(const char *name)
{
	char **at = entry(name);

	return at ? *at + strlen(name) + 1 : NULL;
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
	preload = entry(PRELOAD);
	if (preload && !without_us(*preload + sizeof PRELOAD))
		take_out(preload);
}

/* --- of others -------------------------------------------------------------------------- */

/* An environment that was given for a program; `heap`, `preload`: NULL when it has none. */
struct given {
	char *const *all;
	size_t n, heap_at, preload_at;
	const char *heap, *preload;
};

static struct given look(char *const *from)
{
	struct given g = {.all = from,
			  .heap_at = place(from, AS_WIRE_HEAP_ENV),
			  .preload_at = place(from, PRELOAD)};

	while (from && from[g.n])
		g.n++;
	g.heap = g.heap_at < g.n ? from[g.heap_at] : NULL;
	g.preload = g.preload_at < g.n ? from[g.preload_at] : NULL;
	return g;
}

size_t as_environment_room(char *const *from, const char *library)
{
	struct given g = look(from);

	return (g.n + 3) * sizeof *from + sizeof PRELOAD + 2 + strlen(library) +
	       (g.preload ? strlen(g.preload) : 0);
}

static bool has_us(const char *list)
{
	for (size_t n; *list; list += n + (list[n] != '\0')) {
		n = word(list);
		if (ours(list, n))
			return true;
	}
	return false;
}

/* All but what is about us: how many. */
static size_t copy_others(const struct given *g, char **to)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (i != g->heap_at && i != g->preload_at)
			to[n++] = g->all[i];
	to[n] = NULL;
	return n;
}

char *const *as_environment_with(char *const *from, char *entry_is, const char *library, void *room)
{
	struct given g = look(from);
	char **to = room, *list = (char *)(to + g.n + 3);
	bool listed = g.preload && has_us(g.preload + sizeof PRELOAD);
	size_t n;

	if (g.heap && (listed || strcmp(g.heap, entry_is) != 0))
		return from;
	n = copy_others(&g, to);
	to[n++] = entry_is;
	to[n++] = listed ? g.all[g.preload_at] : list;
	to[n] = NULL;
	list = put(list, list + sizeof PRELOAD, PRELOAD "=");
	list = put(list, list + strlen(library), library);
	if (g.preload && g.preload[sizeof PRELOAD])
		list = put(list, list + 1, ":");
	if (g.preload)
		list = put(list, list + strlen(g.preload), g.preload + sizeof PRELOAD);
	*list = '\0';
	return to;
}

char *const *as_environment_without(char *const *from, const char *entry_is, void *room)
{
	struct given g = look(from);
	char **to = room, *list = (char *)(to + g.n + 3);
	size_t n;

	if (!(g.heap ? !strcmp(g.heap, entry_is) : g.preload && has_us(g.preload + sizeof PRELOAD)))
		return from;
	n = copy_others(&g, to);
	if (!g.preload)
		return to;
	memcpy(list, g.preload, strlen(g.preload) + 1);
	if (without_us(list + sizeof PRELOAD)) {
		to[n++] = list;
		to[n] = NULL;
	}
	return to;
}
