#include "preload/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>

#include "preload/hook.h"
#include "preload/oldlibc.h"
#include "preload/pyhost.h"
#include "preload/symbol.h"
#include "preload/sys.h"

/* Of those who attach, which is never into an old one. */
AS_OLDLIBC(dlopen, AS_OLDEST);
AS_OLDLIBC(dlsym, AS_OLDEST);
AS_OLDLIBC(dlerror, AS_OLDEST);

enum { MOST = 4096 }; /* modules at a time that are noted */

/* NULL: the C library is older than 2.35, and no module is known. */
static int (*index_of_modules)(void *, struct dl_find_object *);

bool as_module_begin(void)
{
	void *found = as_symbol_first("_dl_find_object");

	memcpy(&index_of_modules, &found, sizeof found);
	return found;
}

static bool find(const void *address, struct dl_find_object *ret)
{
	return index_of_modules && !index_of_modules((void *)(uintptr_t)address, ret);
}

void *as_module_map(const void *address)
{
	struct dl_find_object o;

	return find(address, &o) ? o.dlfo_link_map : NULL;
}

bool as_module_is_program(const void *address)
{
	struct dl_find_object o;

	return find(address, &o) && !*o.dlfo_link_map->l_name;
}

void *as_module_symbol(const struct link_map *map, const char *name)
{
	void *handle, *found = NULL;

	if (!strchr(map->l_name, '/'))
		return NULL; /* the program, which comes before all, or the kernel's */
	handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		found = dlsym(handle, name);
		as_next.dlclose(handle);
	}
	dlerror(); /* nobody shall wonder about ours */
	return found;
}

/* --- noting, under the lock ---------------------------------------------------------------- */

struct as_known_module {
	uint64_t start, end, bias, name; /* a hash of it                                      */
	uint64_t place; /* how many others were there before, shifted: it is told so far up   */
};

static void tell(enum as_wire_note_kind kind, const struct as_known_module *k, const char *path,
		 size_t n)
{
	struct as_wire_module m = {.start = k->start + k->place,
				   .end = k->end + k->place,
				   .bias = k->bias + k->place,
				   .seq = atomic_load(&as_guest.heap->seq)};

	as_note(kind, (struct as_note_part[]){{&m, sizeof m}, {path, n}}, 2);
}

/* The program itself has no name in the loader's list. The host's stack may be a small one. */
static void tell_program(const struct as_known_module *k)
{
	char *path = as_guest_pages(PATH_MAX);
	long n;

	if (!path)
		return;
	n = as_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, PATH_MAX, 0, 0);
	tell(AS_WIRE_NOTE_MODULE, k, path, n > 0 ? (size_t)n : 0);
	as_guest_pages_back(path, PATH_MAX);
}

static uint64_t hash_of(const char *name)
{
	uint64_t h = 14695981039346656037ull;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ull;
	return h;
}

static struct as_known_module describe(const struct dl_find_object *o)
{
	return (struct as_known_module){.start = (uintptr_t)o->dlfo_map_start,
					.end = (uintptr_t)o->dlfo_map_end,
					.bias = o->dlfo_link_map->l_addr,
					.name = hash_of(o->dlfo_link_map->l_name)};
}

static bool same(const struct as_known_module *a, const struct as_known_module *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->name == b->name;
}

static bool known(const struct dl_find_object *o)
{
	struct as_known_module is = describe(o);

	for (uint32_t i = 0; i < as_guest.nmodules; i++)
		if (same(&as_guest.module[i], &is))
			return true;
	return false;
}

/* That of the one that was there as it is now, else the next after all that were. */
static uint64_t place_of(const struct as_known_module *is)
{
	const uint64_t step = UINT64_C(1) << AS_WIRE_PLACE_SHIFT;
	uint64_t place = 0;

	for (uint32_t i = 0; i < as_guest.ngone; i++) {
		const struct as_known_module *k = &as_guest.gone[i];

		if (same(k, is))
			return k->place;
		if (k->start < is->end && is->start < k->end && k->place >= place)
			place = k->place + step;
	}
	return place < AS_WIRE_PLACES * step ? place : 0;
}

static void note(const struct dl_find_object *o)
{
	struct as_known_module is = describe(o);

	if (!as_guest.module)
		as_guest.module = as_guest_pages(MOST * sizeof *as_guest.module);
	if (!as_guest.module || as_guest.nmodules == MOST)
		return;
	is.place = place_of(&is);
	as_guest.module[as_guest.nmodules++] = is;
	if (is.place)
		atomic_store_explicit(&as_guest.moved_in, true, memory_order_relaxed);
	if (*o->dlfo_link_map->l_name)
		tell(AS_WIRE_NOTE_MODULE, &is, o->dlfo_link_map->l_name,
		     strlen(o->dlfo_link_map->l_name));
	else
		tell_program(&is);
	if (as_symbol(o->dlfo_link_map, "PyCode_Type"))
		as_python_appeared(o->dlfo_link_map);
}

uint64_t as_module_key_slowly(uint64_t address)
{
	uint64_t place = 0;

	as_lock(&as_guest.module_lock);
	for (uint32_t i = 0; i < as_guest.nmodules && !place; i++)
		if (address - as_guest.module[i].start <
		    as_guest.module[i].end - as_guest.module[i].start)
			place = as_guest.module[i].place;
	as_unlock(&as_guest.module_lock);
	return address + place;
}

bool as_module_at(uint64_t address, struct as_guest_module *ret)
{
	struct dl_find_object o;

	if (!find((const void *)(uintptr_t)address, &o))
		return false;
	as_lock(&as_guest.module_lock);
	if (!known(&o))
		note(&o);
	as_unlock(&as_guest.module_lock);
	*ret = (struct as_guest_module){
		.start = (uintptr_t)o.dlfo_map_start,
		.end = (uintptr_t)o.dlfo_map_end,
		.bias = o.dlfo_link_map->l_addr,
		.eh_frame_hdr = o.dlfo_eh_frame,
	};
	return true;
}

/* --- unloading ------------------------------------------------------------------------------- */

static void remember(const struct as_known_module *k)
{
	if (!as_guest.gone)
		as_guest.gone = as_guest_pages(MOST * sizeof *as_guest.gone);
	for (uint32_t i = 0; i < as_guest.ngone; i++)
		if (same(&as_guest.gone[i], k))
			return;
	if (as_guest.gone && as_guest.ngone < MOST)
		as_guest.gone[as_guest.ngone++] = *k;
}

static bool is_there(const struct as_known_module *k)
{
	struct as_known_module now;
	struct dl_find_object o;

	if (!find((const void *)(uintptr_t)k->start, &o))
		return false;
	now = describe(&o);
	return same(k, &now);
}

static void drop_those_gone(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < as_guest.nmodules; i++) {
		struct as_known_module k = as_guest.module[i];

		if (is_there(&k)) {
			as_guest.module[kept++] = k;
			continue;
		}
		tell(AS_WIRE_NOTE_UNLOAD, &k, NULL, 0);
		remember(&k);
	}
	as_guest.nmodules = kept;
}

static void look_again(struct as_guest_thread *t)
{
	if (atomic_load(&as_guest.phase) != AS_GUEST_RECORDS || t->busy)
		return;
	t->busy = 1;
	atomic_fetch_add(&as_guest.unloads, 1);
	as_lock(&as_guest.module_lock);
	drop_those_gone();
	as_unlock(&as_guest.module_lock);
	t->busy = 0;
}

AS_HOOK int dlclose(void *handle)
{
	int e;

	if (AS_MISSING(dlclose))
		return -1;
	as_python_may_go();
	e = as_next.dlclose(handle);
	as_python_is_there(as_module_map(as_pyhost.api.code_type));
	look_again(as_this_thread());
	return e;
}
