#pragma once
/*
 * got -- hooks for a process that runs: what its modules call is looked up in
 * tables of theirs, and those are changed.
 *
 * A module has a word for each function that it calls in others, which the
 * loader fills in. Where one leads to the function that we stand before, it is
 * made to lead to our hook, and what it was is kept. Words that lead elsewhere
 * (an allocator of the module's own) are left alone.
 *
 * A module that is being loaded by another thread is in the loader's list before
 * its words are right. So modules are listed first, and each is asked for by
 * name (dlopen, RTLD_NOLOAD) before it is touched: the loader answers when it
 * is done, and while we have it nobody unloads it.
 */
#include "preload/guest.h"

/* A function that hooks stand before, and who comes next: 0 when the process has none. */
struct as_got_row {
	const char *name;
	void *hook;
	_Atomic(void *) next;
};

enum as_got_found {
	AS_GOT_FOUND,
	AS_GOT_FIRST,   /* our own come first already: the library was preloaded */
	AS_GOT_BUILTIN, /* malloc is the program's own                           */
};

/* Who comes next, for all hooks. Before anything else of this. */
enum as_got_found as_got_find(void);
/* All modules that are there and were not seen. */
void as_got_patch(void);
/* Has anything been loaded since? Then patch it. */
void as_got_look(void);
/*
 * The library was preloaded: modules find our hooks by themselves, but for those that
 * have no symbol (hook_api.c). Where such an allocator is, its callers are patched. So is
 * who was opened to see its own libraries first (RTLD_DEEPBIND), past us.
 */
void as_got_begin(void);
/* A module came that may be so. */
void as_got_past_us(void);
bool as_got_looks(void); /* whatever comes is looked at */
/* Every word that leads to us is what it was. */
void as_got_restore(void);

/* The operators of C++ (hook_new.c). */
extern struct as_got_row as_got_operators[];
extern const size_t as_got_noperators;

/* What other allocators have besides malloc (hook_api.c). */
extern struct as_got_row as_got_apis[];
extern const size_t as_got_napis;

/* longjmp and its relatives (hook_jump.c). */
extern struct as_got_row as_got_jumps[];
extern const size_t as_got_njumps;
void as_jump_begin(void);
