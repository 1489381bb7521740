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
