#pragma once
/*
 * lines -- which line of its file an instruction came from.
 *
 * Three encodings over the years (pyabi/layout.h names them); the tables come
 * from somebody else's memory, so every byte of them may lie.
 */
#include <stddef.h>
#include <stdint.h>

#include "pyabi/layout.h"

/*
 * `at` is the instruction's offset in bytes from the first one. The answer is
 * 0 for code without a line, or when the table ends before it.
 */
int32_t as_py_line(enum as_py_lines how, const uint8_t *table, size_t n, int32_t first,
		   uint32_t at);

/*
 * A table of AS_PY_LOCATIONS as one of AS_PY_PEP626 that tells the same lines: without
 * columns, a third of it or less. `to` has room for n bytes; the answer is how many it
 * takes, 0 when that is not less.
 */
size_t as_py_lines_slim(const uint8_t *table, size_t n, uint8_t *to);
