#pragma once
/*
 * taskwatch -- for how long each task ran and how long it awaited, as many
 * looks at random moments see it.
 */
#include "base/index.h"
#include "stack/tasks.h"

struct as_taskwatch {
	struct as_taskwatch_row {
		uint64_t at, coro; /* who it is: an address alone is soon another's */
		uint32_t name;     /* … and so is the text's: a hash of it          */
		uint64_t look;     /* the last that saw it                          */
		int64_t ran_ns, awaited_ns;
	} * row;
	size_t n, cap;
	struct as_index by_who;
	uint64_t looks;
	int64_t watched_ns;
};

void as_taskwatch_done(struct as_taskwatch *w);
/* Look again and again for this long. False for want of memory. */
bool as_taskwatch_run(struct as_taskwatch *w, struct as_pyreader *r,
		      const struct as_pyasyncio *asyncio, size_t n, int64_t for_ns);
/* What was seen of a task of this name; NULL: nothing. */
const struct as_taskwatch_row *as_taskwatch_find(const struct as_taskwatch *w,
						 const struct as_pytask *t, const char *name);
