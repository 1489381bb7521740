#include "preload/symbol.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/oldlibc.h"

AS_OLDLIBC(dlsym, AS_OLDEST);
AS_OLDLIBC(dlerror, AS_OLDEST);

struct tables {
	const ElfW(Sym) * symbol;
	const char *names;
	const uint32_t *hash;
};

/* The loader has made addresses of them, except in a module that it may not write to. */
static const void *place(const struct link_map *m, ElfW(Addr) p)
{
	return (const void *)(p < m->l_addr ? p + m->l_addr : p);
}

static struct tables tables_of(const struct link_map *m)
{
	struct tables t = {0};

	for (const ElfW(Dyn) *d = m->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SYMTAB)
			t.symbol = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			t.names = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_GNU_HASH)
			t.hash = place(m, d->d_un.d_ptr);
	return t;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static void *named(const struct link_map *m, const struct tables *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &t->symbol[i];

	if (s->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s->st_info) > STT_FUNC ||
	    strcmp(t->names + s->st_name, name) != 0)
		return NULL;
	return (void *)(m->l_addr + s->st_value);
}

/*
 * The table: how many buckets, the first symbol that is in it, words of a
 * filter (which we can do without) and a shift of its; the filter; of each
 * bucket its first symbol; of each symbol its hash, odd at the bucket's end.
 */
void *as_symbol(const struct link_map *m, const char *name)
{
	struct tables t = tables_of(m);
	uint32_t h = hash_of(name);

	if (!t.symbol || !t.names || !t.hash || !t.hash[0])
		return NULL;
	const uint32_t *bucket = t.hash + 4 + t.hash[2] * (sizeof(ElfW(Addr)) / sizeof *t.hash);
	const uint32_t *chain = bucket + t.hash[0];
	uint32_t first = t.hash[1], i = bucket[h % t.hash[0]];

	for (bool last = i < first; !last; i++) {
		void *found = (chain[i - first] | 1) == (h | 1) ? named(m, &t, i, name) : NULL;

		if (found)
			return found;
		last = chain[i - first] & 1;
	}
	return NULL;
}

/* --- in all modules ------------------------------------------------------------------------- */

static void *search(const struct link_map *from, const char *name)
{
	void *found = NULL;

	for (; from && !found; from = from->l_next)
		found = as_symbol(from, name);
	return found;
}

static const struct link_map *us(void)
{
	const struct link_map *m = _r_debug.r_map;

	while (m && m->l_ld != _DYNAMIC)
		m = m->l_next;
	return m;
}

static const struct link_map *after_us(void)
{
	const struct link_map *m = us();

	return m ? m->l_next : NULL;
}

const char *as_symbol_library(void)
{
	const struct link_map *m = us();

	return m ? m->l_name : "";
}

/* A symbol that is not there leaves a message for dlerror(), which is the host's to find. */
static void *ask(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found && dlerror)
		(void)dlerror();
	return found;
}

void *as_symbol_first(const char *name)
{
	return dlsym ? ask(RTLD_DEFAULT, name) : search(_r_debug.r_map, name);
}

void *as_symbol_next(const char *name)
{
	return dlsym ? ask(RTLD_NEXT, name) : search(after_us(), name);
}
