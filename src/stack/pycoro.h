#pragma once
/*
 * pycoro -- coroutines of another process: where each stands, and whom it awaits.
 *
 * A coroutine that is suspended in an `await` has on its stack what it awaits:
 * another coroutine, and so on, until something that is none, a future. That
 * chain is the stack of a task that does not run.
 */
#include "stack/pyobject.h"
#include "stack/snapshot.h"

enum { AS_PYCORO_FRAMES = 128 };

enum as_pycoro_doing {
	AS_PYCORO_DONE, /* or unreadable: it has no frame */
	AS_PYCORO_CREATED,
	AS_PYCORO_SUSPENDED,
	AS_PYCORO_RUNS,
};

struct as_pychain {
	struct as_pyframe at[AS_PYCORO_FRAMES]; /* the outermost first               */
	size_t n;
	enum as_pycoro_doing doing; /* of the outermost                              */
	uint64_t awaits;            /* what the innermost awaits: no coroutine, or 0 */
	bool cut;                   /* there were more                               */
};

/* The address of its frame; 0: it has none. */
uint64_t as_pycoro_frame(struct as_pyreader *r, uint64_t coro);
void as_pychain_read(struct as_pyreader *r, uint64_t coro, struct as_pychain *ret);
bool as_pychain_same(const struct as_pychain *a, const struct as_pychain *b);
