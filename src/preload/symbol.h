#pragma once
/*
 * symbol -- where a module has a function or a variable of some name.
 *
 * dlsym() does not find what was loaded for one caller only (RTLD_LOCAL), and
 * takes the loader's lock, which a thread may hold that waits for this one. A
 * module's own tables say it without either.
 */
#include <link.h>

/* Its address; NULL: the module has none, or no table (DT_GNU_HASH). */
void *as_symbol(const struct link_map *module, const char *name);

/*
 * What dlsym() finds for everybody, and after this library. A process without
 * libdl, which a C library before 2.34 has it in, is searched without a lock:
 * that is for the beginning.
 */
void *as_symbol_first(const char *name);
void *as_symbol_next(const char *name);

/* The file that this library was loaded from. */
const char *as_symbol_library(void);
