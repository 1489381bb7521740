#pragma once
/*
 * asyncio -- what asyncio says of its own layout, from 3.14 on.
 *
 * Its part in C has a section .AsyncioDebug: thirteen words, sizes and offsets
 * of a Task and of what threads and interpreters keep of tasks. As with
 * offsets.h, a table that contradicts itself, or what we know of a Task of
 * this version, is worthless. Freestanding.
 */
#include "pyabi/objects.h"

enum { AS_PY_ASYNCIO_BYTES = 13 * 8 };

struct as_py_asyncio {
	uint32_t node;         /* of a Task: its place in a list                          */
	uint32_t interp_tasks; /* of an interpreter: the list of those without a thread   */
	uint32_t thread_task;  /* of a thread: the task that it runs                      */
	uint32_t thread_tasks; /* … and the list of its others                            */
};

/* `more`: bytes that the head of an object has more (AS_PY_HEAD_MORE). */
bool as_py_asyncio(const unsigned char table[AS_PY_ASYNCIO_BYTES], const struct as_py_objects *o,
		   uint32_t more, struct as_py_asyncio *ret);
