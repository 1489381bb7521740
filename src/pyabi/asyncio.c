#include "pyabi/asyncio.h"

#include <string.h>

enum { STRUCT_MOST = 1 << 24, LINK = 16 }; /* bytes: of a struct, of a place in a list */

/* The words that are wanted. */
enum {
	TASK_SIZE = 0,
	TASK_NAME = 1,
	TASK_CORO = 5,
	TASK_NODE = 6,
	INTERP_SIZE = 7,
	INTERP_TASKS = 8,
	THREAD_SIZE = 9,
	THREAD_TASK = 11,
	THREAD_TASKS = 12,
	WORDS = 13
};

static bool within(uint64_t at, uint64_t bytes, uint64_t size)
{
	return size <= STRUCT_MOST && at <= size && bytes <= size - at;
}

bool as_py_asyncio(const unsigned char table[AS_PY_ASYNCIO_BYTES], const struct as_py_objects *o,
		   uint32_t more, struct as_py_asyncio *ret)
{
	uint64_t w[WORDS];

	memcpy(w, table, sizeof w);
	if (w[TASK_NAME] != o->task.name + more || w[TASK_CORO] != o->task.coro + more ||
	    !within(more, o->task.size, w[TASK_SIZE]) ||
	    !within(w[TASK_NODE], LINK, w[TASK_SIZE]) ||
	    !within(w[INTERP_TASKS], LINK, w[INTERP_SIZE]) ||
	    !within(w[THREAD_TASK], sizeof *w, w[THREAD_SIZE]) ||
	    !within(w[THREAD_TASKS], LINK, w[THREAD_SIZE]))
		return false;
	*ret = (struct as_py_asyncio){(uint32_t)w[TASK_NODE], (uint32_t)w[INTERP_TASKS],
				      (uint32_t)w[THREAD_TASK], (uint32_t)w[THREAD_TASKS]};
	return true;
}
