#pragma once
/*
 * module -- what is loaded, and where.
 *
 * Modules are noted when a stack leads through them, not when they are loaded.
 * dlopen() tells us of few (hook_open.c): it looks for files by the RUNPATH of its
 * caller, which would be us. dl_iterate_phdr() is not called here: its lock may be held by a
 * thread that waits for one which is in malloc(). (got.c does both, where no
 * allocation leads.) The loader's own index (_dl_find_object, glibc 2.35) takes
 * no lock and may be asked at any moment.
 *
 * dlclose() has no such secrets, and is hooked: afterwards addresses mean
 * something else (`as_guest.unloads`). Another module may come to the same place,
 * and its frames are not those of the first: so a module that is the n-th there is
 * told n << AS_WIRE_PLACE_SHIFT further up, and so are the keys of nodes in it. One
 * that comes again is what it was.
 */
#include "preload/guest.h"

/* Before anything else of this, once; false: modules are not known here. */
bool as_module_begin(void);
/* The loader's handle of the module of an address; NULL: none. */
void *as_module_map(const void *address);
/* Is it the program's own, of no library? */
bool as_module_is_program(const void *address);
/*
 * What a module sees under a name; NULL: nothing. Not every module of the loader's
 * list may be asked, only those that somebody has opened: so it is opened for that.
 */
struct link_map;
void *as_module_symbol(const struct link_map *map, const char *name);
