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

static void tell(enum as_wire_note_kind kind, struct as_wire_module m, const char *path, size_t n)
{
	m.seq = atomic_load(&as_guest.heap->seq);
	as_note(kind, (struct as_note_part[]){{&m, sizeof m}, {path, n}}, 2);
}

/* The program itself has no name in the loader's list. The host's stack may be a small one. */
static void tell_program(const struct as_wire_module *m)
{
	char *path = as_guest_pages(PATH_MAX);
	long n;

	if (!path)
		return;
	n = as_sys6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path, PATH_MAX, 0, 0);
	tell(AS_WIRE_NOTE_MODULE, *m, path, n > 0 ? (size_t)n : 0);
	as_guest_pages_back(path, PATH_MAX);
}

static bool same(const struct as_wire_module *m, const struct dl_find_object *o)
{
	return m->start == (uintptr_t)o->dlfo_map_start && m->end == (uintptr_t)o->dlfo_map_end &&
	       m->bias == o->dlfo_link_map->l_addr;
}

static bool known(const struct dl_find_object *o)
{
	for (uint32_t i = 0; i < as_guest.nmodules; i++)
		if (same(&as_guest.module[i], o))
			return true;
	return false;
}

static void note(const struct dl_find_object *o)
{
	struct as_wire_module m = {
		.start = (uintptr_t)o->dlfo_map_start,
		.end = (uintptr_t)o->dlfo_map_end,
		.bias = o->dlfo_link_map->l_addr,
	};

	if (!as_guest.module)
		as_guest.module = as_guest_pages(MOST * sizeof *as_guest.module);
	if (!as_guest.module || as_guest.nmodules == MOST)
		return;
	as_guest.module[as_guest.nmodules++] = m;
	if (*o->dlfo_link_map->l_name)
		tell(AS_WIRE_NOTE_MODULE, m, o->dlfo_link_map->l_name,
		     strlen(o->dlfo_link_map->l_name));
	else
		tell_program(&m);
	if (as_symbol(o->dlfo_link_map, "PyCode_Type"))
		as_python_appeared(o->dlfo_link_map);
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

static void drop_those_gone(void)
{
	struct dl_find_object o;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < as_guest.nmodules; i++) {
		struct as_wire_module m = as_guest.module[i];

		if (find((const void *)(uintptr_t)m.start, &o) && same(&m, &o))
			as_guest.module[kept++] = m;
		else
			tell(AS_WIRE_NOTE_UNLOAD, m, NULL, 0);
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
