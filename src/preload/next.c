#include "preload/next.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "preload/guest.h"
#include "preload/module.h"
#include "preload/oldlibc.h"
#include "preload/symbol.h"

AS_OLDLIBC(dladdr1, AS_OLDEST_DLADDR1);

struct as_next as_next;

static const struct {
	const char *name;
	size_t at;
} table[] = {
#define AS_NEXT_ROW(name, type, args) {#name, offsetof(struct as_next, name)},
	AS_NEXT(AS_NEXT_ROW)
#undef AS_NEXT_ROW
};

bool as_next_find(void)
{
	struct as_guest_thread *t = as_this_thread();

	if (t->finding)
		return false;
	t->finding = true;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		void *found = as_symbol_next(table[i].name);

		memcpy((char *)&as_next + table[i].at, &found, sizeof found);
	}
	t->finding = false;
	return true;
}

/* A program at a fixed address that takes malloc's has a stub of it: undefined, with a value. */
static bool is_defined_at(const void *address)
{
	ElfW(Sym) *symbol = NULL;
	Dl_info where;

	if (!dladdr1)
		return true; /* as_symbol() finds no others */
	return dladdr1(address, &where, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx != SHN_UNDEF;
}

bool as_next_is_inside(void)
{
	void *found = as_symbol_first("malloc");

	return found && as_module_is_program(found) && is_defined_at(found);
}

/* --- before that ----------------------------------------------------------------- */

enum { EARLY = 64 << 10 };

static _Alignas(AS_GUEST_PAGE) uint8_t early[EARLY];
static _Atomic size_t early_used;

void *as_early(size_t align, size_t size)
{
	size_t room = size + (align > 16 ? align : 16), at;

	if (size > EARLY || align > EARLY)
		return NULL;
	at = atomic_fetch_add(&early_used, (room + 15) & ~(size_t)15);
	if (at > EARLY || room > EARLY - at)
		return NULL;
	if (align > 16)
		at = (at + align - 1) & ~(align - 1);
	return early + at;
}

bool as_early_is(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY;
}

size_t as_early_rest(const void *p)
{
	return EARLY - (size_t)((const uint8_t *)p - early);
}
