#pragma once
/*
 * pyrepr -- an object of another process, as Python's repr() would show it.
 *
 * Shortened: few items of a container, few containers in each other, the
 * beginning of a text. What was left out is said: [1, 2, … 98 more]. Of what
 * is no number, text or container there is <Type at 0x7f00>; no code of the
 * program is ever run.
 */
#include "base/buf.h"
#include "stack/pydict.h"

enum {
	AS_PYREPR_DEPTH = 3,  /* containers in containers      */
	AS_PYREPR_ITEMS = 8,  /* of each                       */
	AS_PYREPR_CHARS = 72, /* of a text                     */
	AS_PYREPR_MOST = 320, /* bytes; a thing more than that */
};

void as_pyrepr(struct as_pyreader *r, uint64_t object, struct as_buf *out);
