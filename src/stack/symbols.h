#pragma once
/*
 * symbols -- what a place in a program or library is called.
 *
 * What reads the tables is elfutils, in a module of its own (elfutils.c): few
 * commands want it, and they only at their end. DWARF is used where the file
 * has it, or where it is installed beside it; else the symbol table. Nothing is
 * ever asked of a server.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* One of the functions that an instruction is of: itself, or what it was inlined into. */
struct as_symbol {
	const char *function; /* as the linker knows it; NULL: unknown */
	const char *file;     /* NULL: unknown */
	int32_t line;         /* 0: unknown */
};

typedef void (*as_symbol_tell)(void *arg, const struct as_symbol *s);

/* The function that was found last: the next address may be in it too. The module's. */
struct as_symbol_hint {
	_Alignas(void *) unsigned char room[64];
	bool any;
};

/* What the module does. Texts are its own, until close(). */
struct as_symbols {
	size_t version; /* AS_SYMBOLS_VERSION: the module belongs to this program */
	/* build_id: hex, "" for any. NULL: there is no such file, or it is another build. */
	void *(*open)(const char *path, const char *build_id);
	/* By DWARF: tells all functions of an address, the innermost first; returns how many. */
	int (*find)(void *file, uint64_t address, struct as_symbol_hint *hint, as_symbol_tell tell,
		    void *arg);
	/* All functions of the symbol table, in any order. rank: the greater is the better name. */
	void (*each)(void *file,
		     void (*tell)(void *arg, const char *name, uint64_t at, uint64_t size,
				  int rank),
		     void *arg);
	void (*close)(void *file);
};

#define AS_SYMBOLS_MODULE "assay-symbols.so"
#define AS_SYMBOLS_SYMBOL "as_symbols_elfutils"
#define AS_SYMBOLS_VERSION                                                                         \
	(1001 + sizeof(struct as_symbols) + sizeof(struct as_symbol) +                             \
	 sizeof(struct as_symbol_hint))

/* EUNSUP: this build has none. */
int as_symbols_load(const struct as_symbols **ret, struct as_err *err);

/* --- one file ---------------------------------------------------------------- */

struct as_symbol_row {
	const char *name;
	uint64_t at, size;
	int rank;
};

struct as_symbol_file {
	const struct as_symbols *by;
	void *file; /* NULL: it could not be opened, and nothing is known */
	struct as_symbol_hint hint;
	struct as_symbol_row *row; /* the symbol table, in order; read when it is first wanted */
	size_t n, cap;
	bool read, starved;
};

void as_symbol_file_open(struct as_symbol_file *f, const struct as_symbols *by, const char *path,
			 const char *build_id);
/* All functions of an address of the file, the innermost first; returns how many. */
int as_symbol_file_find(struct as_symbol_file *f, uint64_t address, as_symbol_tell tell, void *arg);
void as_symbol_file_close(struct as_symbol_file *f);
