#undef _FILE_OFFSET_BITS /* it makes mmap64 of every mmap, and we are both */
#include "preload/got.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/hook.h"
#include "preload/module.h"
#include "preload/oldlibc.h"
#include "preload/symbol.h"
#include "preload/sys.h"

/* All are there: an older C library is not attached to. */
AS_OLDLIBC(dlopen, AS_OLDEST);
AS_OLDLIBC(dlsym, AS_OLDEST);
AS_OLDLIBC(dlerror, AS_OLDEST);
AS_OLDLIBC(dladdr1, AS_OLDEST_DLADDR1);

#if defined(__x86_64__)
enum { CALLED = R_X86_64_JUMP_SLOT, POINTED = R_X86_64_GLOB_DAT, STORED = R_X86_64_64 };
#elif defined(__aarch64__)
enum { CALLED = R_AARCH64_JUMP_SLOT, POINTED = R_AARCH64_GLOB_DAT, STORED = R_AARCH64_ABS64 };
#endif

enum {
	MODULES = 4096,  /* that are known at a time          */
	SLOTS = 1 << 16, /* words that were changed          */
	NAME = 512,      /* bytes of a module's              */
	BATCH = 32,      /* modules that are listed at once  */
};

void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
static void *hook_dlopen(const char *file, int mode);

/* clang-format off */
#define ROW(name, type, args) {#name, (void *)name, NULL},
static struct as_got_row rows[] = {
	AS_NEXT(ROW)
	{"mmap64", (void *)mmap, NULL},
	{"reallocarray", (void *)reallocarray, NULL},
	{"free_sized", (void *)free_sized, NULL},
	{"free_aligned_sized", (void *)free_aligned_sized, NULL},
	{"dlopen", (void *)hook_dlopen, NULL},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows, DLOPEN = ROWS - 1 };

/* A module as it was when its words were changed. */
struct known {
	const void *dynamic;
	uintptr_t bias, end;
	uint64_t name;    /* a hash of it                                            */
	uintptr_t *proof; /* one of the words, and what we made it; NULL: there is none */
	uintptr_t value;
};

struct slot {
	uintptr_t *at;
	uintptr_t was, is;
	size_t of; /* in `known` */
};

/* Of this process, and of those forked from it: their words are copies of it. */
static struct {
	struct slot *slot;
	struct known *known;
	size_t nslots, nknown;
	unsigned long long adds; /* modules that were ever loaded, when we last looked */
	bool preloaded;          /* what has a symbol of ours comes by itself          */
} got;

/* --- who comes next ------------------------------------------------------------------------ */

struct module {
	uintptr_t bias;
	const ElfW(Dyn) * dynamic;
	uintptr_t start, end;             /* of all that is mapped                    */
	uintptr_t relro_start, relro_end; /* what is read only once it was filled in */
	char name[NAME];                  /* empty: the program                      */
};

/* Parts of a module that its dynamic section leads to. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * called, *other;
	size_t ncalled, nother;
};

/* The loader has made addresses of most, not of all. */
static const void *place(const struct module *m, ElfW(Addr) p)
{
	return (const void *)(p < m->bias ? p + m->bias : p);
}

static void read_tables(const struct module *m, struct tables *t)
{
	*t = (struct tables){0};
	for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			t->symbols = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			t->names = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_JMPREL)
			t->called = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			t->ncalled = d->d_un.d_val / sizeof *t->called;
		else if (d->d_tag == DT_RELA)
			t->other = place(m, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			t->nother = d->d_un.d_val / sizeof *t->other;
	}
}

static bool holds(const struct module *m, uintptr_t p)
{
	return p >= m->start && p < m->end;
}

/*
 * A program that is not relocated and takes a function's address has a place
 * for it among its own, which is what everybody finds then. We want who is
 * behind it.
 */
static void *behind(struct link_map *program, const char *name)
{
	for (struct link_map *m = program->l_next; m; m = m->l_next) {
		void *found = as_module_symbol(m, name);

		if (found && as_module_map(found) == m)
			return found;
	}
	return NULL;
}

static void *definition(struct link_map *program, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	void *entry = NULL;
	Dl_info info;

	if (!found || as_module_map(found) != program)
		return found;
	if (dladdr1(found, &info, &entry, RTLD_DL_SYMENT) && entry &&
	    ((const ElfW(Sym) *)entry)->st_shndx != SHN_UNDEF)
		return found;
	return behind(program, name);
}

static void find_all(struct link_map *program, struct as_got_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		atomic_store(&row[i].next, definition(program, row[i].name));
}

static void set_next(void)
{
#define SET(name, type, args)                                                                      \
	{                                                                                          \
		void *found = atomic_load(&rows[i++].next);                                        \
                                                                                                   \
		memcpy(&as_next.name, &found, sizeof found);                                       \
	}
	size_t i = 0;

	AS_NEXT(SET)
#undef SET
}

/* What seeking needs itself; libc is never closed, so it may stay open. */
static bool find_dlclose(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = libc ? dlsym(libc, "dlclose") : NULL;

	memcpy(&as_next.dlclose, &found, sizeof found);
	return found;
}

enum as_got_found as_got_find(void)
{
	struct link_map *program =
		as_module_begin() && find_dlclose() ? dlopen(NULL, RTLD_LAZY) : NULL;
	void *malloc_now = program ? definition(program, "malloc") : NULL;

	if (!malloc_now || malloc_now == (void *)malloc)
		return AS_GOT_FIRST;
	if (as_module_map(malloc_now) == program)
		return AS_GOT_BUILTIN;
	find_all(program, rows, ROWS);
	find_all(program, as_got_operators, as_got_noperators);
	find_all(program, as_got_jumps, as_got_njumps);
	find_all(program, as_got_apis, as_got_napis);
	set_next();
	(void)dlerror();
	return AS_GOT_FOUND;
}

/* Is there one of those allocators? Nobody is asked for that, as mostly there is none. */
static bool has_apis(void)
{
	static const char *const sign[] = {"mallocx", "mi_malloc", "tc_malloc"};
	bool has = false;

	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		for (size_t i = 0; i < sizeof sign / sizeof *sign; i++)
			has = has || as_symbol(m, sign[i]);
	return has;
}

static void find_next(struct as_got_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		atomic_store(&row[i].next, as_symbol_next(row[i].name));
}

/* In a process that has us from its start. False: nothing can be patched here. */
static bool find_preloaded(void)
{
	if (got.preloaded)
		return true;
	if (!dlsym || !dlerror || AS_MISSING(dlclose))
		return false;
	find_next(rows, ROWS);
	find_next(as_got_operators, as_got_noperators);
	find_next(as_got_apis, as_got_napis);
	got.preloaded = true;
	return true;
}

void as_got_begin(void)
{
	if (has_apis())
		as_got_past_us();
}

void as_got_past_us(void)
{
	struct as_guest_thread *t = as_this_thread();

	as_inside(t);
	if (find_preloaded())
		as_got_look();
	as_outside(t);
}

bool as_got_looks(void)
{
	return got.preloaded;
}

/* --- words ----------------------------------------------------------------------------------- */

static const struct as_got_row *row_in(const struct as_got_row *row, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].name[0] == name[0] && !strcmp(row[i].name, name))
			return &row[i];
	return NULL;
}

static const struct as_got_row *row_of(const char *name)
{
	if (name[0] == '_' && name[1] == 'Z')
		return row_in(as_got_operators, as_got_noperators, name);
	const struct as_got_row *found = row_in(rows, ROWS, name);
	if (!found)
		found = row_in(as_got_jumps, as_got_njumps, name);
	return found ? found : row_in(as_got_apis, as_got_napis, name);
}

/* `aside`: the others come by themselves. */
static const struct as_got_row *row_wanted(const char *name, bool aside)
{
	return aside ? row_in(as_got_apis, as_got_napis, name) : row_of(name);
}

/* Pages that are read only are opened for a moment; nobody else writes there. */
static void write_word(const struct module *m, uintptr_t *at, uintptr_t value)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(AS_GUEST_PAGE - 1);
	bool closed = (uintptr_t)at >= m->relro_start && (uintptr_t)at < m->relro_end;

	if (closed && as_sys3(SYS_mprotect, (long)page, AS_GUEST_PAGE, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	if (closed)
		as_sys3(SYS_mprotect, (long)page, AS_GUEST_PAGE, PROT_READ);
}

/* Does it lead to `next`, or will it, once it is called for the first time? */
static bool leads_to(const struct module *m, const ElfW(Rela) * r, const ElfW(Sym) * s,
		     uintptr_t value, const void *next)
{
	if (value == (uintptr_t)next)
		return true;
	return ELF64_R_TYPE(r->r_info) == CALLED && s->st_shndx == SHN_UNDEF && holds(m, value);
}

/* Under the lock. */
static void change(const struct module *m, size_t known, uintptr_t *at, uintptr_t value, void *hook)
{
	struct known *k = &got.known[known];

	if (got.nslots == SLOTS)
		return;
	got.slot[got.nslots++] = (struct slot){at, value, (uintptr_t)hook, known};
	write_word(m, at, (uintptr_t)hook);
	k->proof = at;
	k->value = (uintptr_t)hook;
}

static void patch_word(const struct module *m, const struct tables *t, const ElfW(Rela) * r,
		       size_t known, bool aside)
{
	const ElfW(Sym) *s = &t->symbols[ELF64_R_SYM(r->r_info)];
	unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
	uintptr_t *at = (uintptr_t *)(m->bias + r->r_offset), value;

	if ((type != CALLED && type != POINTED && type != STORED) || r->r_addend)
		return;
	const struct as_got_row *row = row_wanted(t->names + s->st_name, aside);
	void *next = row ? atomic_load_explicit(&row->next, memory_order_relaxed) : NULL;
	if (!next)
		return;
	value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	if (leads_to(m, r, s, value, next))
		change(m, known, at, value, row->hook);
}

static void patch(const struct module *m, size_t known, bool aside)
{
	struct tables t;

	read_tables(m, &t);
	if (!t.symbols || !t.names)
		return;
	for (size_t i = 0; i < t.ncalled; i++)
		patch_word(m, &t, &t.called[i], known, aside);
	for (size_t i = 0; i < t.nother; i++)
		patch_word(m, &t, &t.other[i], known, aside);
}

/* --- modules --------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name)
{
	uint64_t h = 14695981039346656037ull;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211ull;
	return h;
}

/* Under the lock, while it is there. NULL: it is another, or a new one. */
static struct known *find_known(const struct module *m)
{
	for (size_t i = 0; i < got.nknown; i++) {
		struct known *k = &got.known[i];

		if (k->dynamic == m->dynamic && k->bias == m->bias && k->end == m->end &&
		    k->name == hash_of(m->name))
			return k;
	}
	return NULL;
}

/* One that was unloaded and came again to the same place is as the loader made it. */
static bool seen(const struct module *m)
{
	bool is;

	as_lock(&as_guest.got_lock);
	const struct known *k = find_known(m);
	is = k && (!k->proof || *k->proof == k->value);
	as_unlock(&as_guest.got_lock);
	return is;
}

static bool describe(const struct dl_phdr_info *info, struct module *ret)
{
	ret->bias = info->dlpi_addr;
	ret->dynamic = NULL;
	ret->start = UINTPTR_MAX;
	ret->end = ret->relro_start = ret->relro_end = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = ret->bias + p->p_vaddr, to = from + p->p_memsz;

		if (p->p_type == PT_LOAD) {
			ret->start = from < ret->start ? from : ret->start;
			ret->end = to > ret->end ? to : ret->end;
		} else if (p->p_type == PT_DYNAMIC) {
			ret->dynamic = (const void *)from;
		} else if (p->p_type == PT_GNU_RELRO) {
			ret->relro_start = from & ~(uintptr_t)(AS_GUEST_PAGE - 1);
			ret->relro_end = to & ~(uintptr_t)(AS_GUEST_PAGE - 1);
		}
	}
	return ret->dynamic != NULL;
}

/* Not ourselves, nor the loader, whose words are its own, nor the kernel's. */
static bool is_host(const struct module *m)
{
	const char *base = strrchr(m->name, '/');

	base = base ? base + 1 : m->name;
	return !holds(m, (uintptr_t)&got) && strncmp(base, "ld-linux", 8) &&
	       strncmp(base, "linux-vdso", 10);
}

static bool host(const struct dl_phdr_info *info, struct module *ret)
{
	size_t n = strlen(info->dlpi_name);

	if (n >= NAME || !describe(info, ret))
		return false;
	memcpy(ret->name, info->dlpi_name, n + 1);
	return is_host(ret);
}

struct listing {
	struct module *module;
	size_t n;
};

static int list(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct listing *l = arg;

	(void)size;
	got.adds = info->dlpi_adds;
	if (host(info, &l->module[l->n]) && !seen(&l->module[l->n]))
		l->n++;
	return l->n == BATCH;
}

static bool make_room(void)
{
	as_lock(&as_guest.got_lock);
	if (!got.slot)
		got.slot = as_guest_pages(SLOTS * sizeof *got.slot);
	if (!got.known)
		got.known = as_guest_pages(MODULES * sizeof *got.known);
	as_unlock(&as_guest.got_lock);
	return got.slot && got.known;
}

/* False: there is no room for it, or we are about to leave. */
static bool know(const struct module *m, bool ours, bool aside)
{
	bool room;

	as_lock(&as_guest.got_lock);
	struct known *k = find_known(m);
	room = (k || got.nknown < MODULES) && atomic_load(&as_guest.phase) == AS_GUEST_RECORDS;
	if (!k && room)
		k = &got.known[got.nknown++];
	if (room) {
		*k = (struct known){m->dynamic, m->bias, m->end, hash_of(m->name), NULL, 0};
		if (ours)
			patch(m, (size_t)(k - got.known), aside);
	}
	as_unlock(&as_guest.got_lock);
	return room;
}

/*
 * Does a library find, among those that it came with, what our hooks pass on to? Then
 * its words may lead past us. One with an allocator of its own is left with that.
 */
static bool may_pass_by(const struct module *m, void *held)
{
	return held && m->name[0] && dlsym(held, "malloc") == (void *)as_next.malloc &&
	       dlsym(held, "free") == (void *)as_next.free;
}

/* While we have it, it is complete and stays. One that is gone meanwhile is known, too. */
static bool hold_and_patch(const struct module *m)
{
	struct link_map *held = dlopen(m->name[0] ? m->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
	bool aside = got.preloaded && !may_pass_by(m, held);
	bool room = know(m, held && held->l_ld == m->dynamic && held->l_addr == m->bias, aside);

	if (held)
		as_next.dlclose(held);
	return room;
}

void as_got_patch(void)
{
	struct listing l = {.module =
				    make_room() ? as_guest_pages(BATCH * sizeof *l.module) : NULL};
	bool room = l.module != NULL;

	while (room) {
		l.n = 0;
		dl_iterate_phdr(list, &l);
		for (size_t i = 0; room && i < l.n; i++)
			room = hold_and_patch(&l.module[i]);
		if (!l.n)
			break;
	}
	as_guest_pages_back(l.module, BATCH * sizeof *l.module);
	(void)dlerror(); /* nobody shall wonder about ours */
}

static int count(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

void as_got_look(void)
{
	unsigned long long adds = 0;

	dl_iterate_phdr(count, &adds);
	if (adds != got.adds)
		as_got_patch();
}

/* --- a module comes ----------------------------------------------------------------------- */

static void *open_and_patch(void *(*next)(const char *, int), const char *file, int mode)
{
	struct as_guest_thread *t = as_this_thread();
	void *handle = next(file, mode);

	if (handle) {
		as_inside(t);
		as_got_look();
		as_outside(t);
	}
	return handle;
}

/*
 * A name without a path is sought where its caller says, so it must stay the
 * caller: that is a jump, not a call, and what came is found later.
 */
static void *hook_dlopen(const char *file, int mode)
{
	void *found = atomic_load_explicit(&rows[DLOPEN].next, memory_order_relaxed);
	void *(*next)(const char *, int);

	memcpy(&next, &found, sizeof next);
	if (!file || !strchr(file, '/') || strchr(file, '$') ||
	    atomic_load(&as_guest.phase) != AS_GUEST_RECORDS)
		return next(file, mode);
	return open_and_patch(next, file, mode);
}

/* --- back --------------------------------------------------------------------------------- */

/* The loader's list is locked meanwhile: what is there stays. */
static int restore(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;

	(void)size;
	if (!host(info, m))
		return 0;
	as_lock(&as_guest.got_lock);
	const struct known *k = find_known(m);
	for (size_t i = 0; k && i < got.nslots; i++) {
		const struct slot *s = &got.slot[i];

		if (&got.known[s->of] == k && *s->at == s->is)
			write_word(m, s->at, s->was);
	}
	as_unlock(&as_guest.got_lock);
	return 0;
}

void as_got_restore(void)
{
	struct module m;

	if (!got.slot)
		return;
	dl_iterate_phdr(restore, &m);
	as_lock(&as_guest.got_lock);
	got.nslots = got.nknown = 0;
	got.adds = 0;
	as_unlock(&as_guest.got_lock);
}
