#pragma once
/*
 * offsets -- what a CPython says of its own layout, from 3.13 on.
 *
 * Its runtime begins with _Py_DebugOffsets: a table of words, sizes of structs
 * and offsets in them, made for whoever looks from outside. The table grew from
 * version to version; where each word stands in it is data here. It is read
 * from somebody else's memory: one offset that leaves its struct makes all of
 * it worthless.
 */
#include "pyabi/layout.h"

enum {
	AS_PY_OFFSETS_BYTES = 1024, /* all tables that are known fit      */
	AS_PY_OFFSETS_FIRST = 13,   /* minor version with the first table */
	AS_PY_OFFSETS_LAST = 15,    /* … and with the last that is known  */
};

/* The version of a runtime, as PY_VERSION_HEX; 0: there is no table. */
uint32_t as_py_offsets_version(const unsigned char *table, size_t n);
/*
 * False: no table, or one that contradicts itself. A version after the last is
 * read as if its table were like that one's; whether that was right must be
 * tried.
 */
bool as_py_offsets(const unsigned char *table, size_t n, struct as_py_layout *ret);

/*
 * How an interpreter is asked to run a script, from 3.14 on (PEP 768): words of
 * a thread of it that are written to, so only of versions that are known.
 */
struct as_py_remote {
	uint32_t main, enabled; /* of an interpreter: its first thread; an int: may it be asked? */
	uint32_t breaker;       /* of a thread: the word that makes it look              */
	uint32_t pending;       /* … an int: there is a script                           */
	uint32_t path, room;    /* … the script's path, and the bytes for it             */
};

enum { AS_PY_PLEASE_STOP = 1 << 5 }; /* the bit of `breaker` */

bool as_py_remote(const unsigned char *table, size_t n, struct as_py_remote *ret);
