#pragma once
/*
 * objects -- where CPython's objects keep what a dump wants to read, as data.
 *
 * What layout.h is for stacks. One row a minor version, measured from its
 * headers (asyncio's, which have none, from objects of known content); NO says
 * that a version has no such thing. What has been the same from 3.8 on is a
 * constant. Freestanding.
 *
 * Where an object keeps something is told as of a build with the GIL. Without
 * it the head of every object has HEAD_MORE bytes more, and all that is in an
 * object comes so much later.
 */
#include "pyabi/layout.h"

enum {
	AS_PY_HEAD_MORE = 16, /* bytes: whose it is, and two counts instead of one */
	AS_PY_FREE_LAST = 14, /* minor version of which that was tried             */
	AS_PY_GIL_SIZE = 208, /* struct _gil_runtime_state with its locks */

	AS_PY_TYPE = 8,   /* PyObject: its type                    */
	AS_PY_SIZE = 16,  /* PyVarObject: how many items it has    */
	AS_PY_ITEMS = 24, /* list: where they are; int: its digits */
	AS_PY_FLOAT = 16,
	AS_PY_CELL = 16,    /* cell: its content                     */
	AS_PY_WEAKREF = 16, /* weakref: whom it means                */
	AS_PY_MODULE_DICT = 16,
	AS_PY_METHOD_FUNC = 16,
	AS_PY_METHOD_SELF = 24,

	AS_PY_TYPE_NAME = 24, /* PyTypeObject: a C string */
	AS_PY_TYPE_FLAGS = 168,
	AS_PY_TYPE_BASE = 256,
	AS_PY_TYPE_DICT = 288, /* where in its objects their dict is; 0: nowhere */
	AS_PY_TYPE_BYTES = 296,

	AS_PY_DICT_USED = 16,
	AS_PY_DICT_KEYS = 32,
	AS_PY_DICT_VALUES = 40,
	AS_PY_DICT_BYTES = 48,

	AS_PY_SET_USED = 24,
	AS_PY_SET_MASK = 32,
	AS_PY_SET_TABLE = 40,
	AS_PY_SET_BYTES = 48,

	/* PyTypeObject.tp_flags */
	AS_PY_IS_INLINE = 1 << 2,  /* attributes are in the object; from 3.13 */
	AS_PY_IS_MANAGED = 1 << 4, /* … or before it; from 3.11               */
	AS_PY_IS_READY = 1 << 12,  /* it is what it will be                   */
	AS_PY_IS_INT = 1 << 24,
	AS_PY_IS_LIST = 1 << 25,
	AS_PY_IS_TUPLE = 1 << 26,
	AS_PY_IS_BYTES = 1 << 27,
	AS_PY_IS_STR = 1 << 28,
	AS_PY_IS_DICT = 1 << 29,

	/* From 3.11, co_localspluskinds: what a name stands for. */
	AS_PY_KIND_HIDDEN = 0x10,
	AS_PY_KIND_CELL = 0x40,
	AS_PY_KIND_FREE = 0x80,
};

/* Where an object keeps attributes that its type does not know. */
enum as_py_attrs {
	AS_PY_ATTRS_DICT,   /* until 3.10: in a dict                                   */
	AS_PY_ATTRS_BEFORE, /* 3.11: values 4 words before the object, a dict 3 before */
	AS_PY_ATTRS_EITHER, /* 3.12: 3 words before, values if the lowest bit is set   */
	AS_PY_ATTRS_INSIDE, /* from 3.13: values in it, or a dict, 3 words before it, without
			     * the GIL, and so without the collector's head, 1 */
};

/* How a suspended generator says that it waits for another. */
enum as_py_yields {
	AS_PY_YIELDS_CODE,   /* until 3.10: by its next instruction, YIELD_FROM          */
	AS_PY_YIELDS_RESUME, /* 3.11, 3.12: by its next instruction, RESUME of 2 or more */
	AS_PY_YIELDS_STATE,  /* from 3.13: by a state of its own                         */
};

struct as_py_objects {
	uint32_t minor; /* of version 3 */
	uint32_t gil;   /* in the runtime; until 3.11 */
	uint32_t tuple; /* where its items begin      */
	enum as_py_attrs attrs;
	enum as_py_yields yields;
	bool tagged_int; /* size and sign of an int are one word of their own; from 3.12 */
	struct {
		uint32_t cached; /* of a class: the keys of its objects' values          */
		uint32_t size;   /* of the index: a number, or a power of 2 in a byte    */
		uint32_t index;  /* … its bytes, a power of 2; from 3.11                 */
		uint32_t kind;   /* are all keys texts? from 3.11                        */
		uint32_t nentries, indices;
		uint32_t values; /* where in PyDictValues they begin                     */
	} keys;
	struct {
		uint32_t frame; /* a pointer, or (from 3.11) the frame itself            */
		uint32_t state; /* from 3.11; those after `runs` have ended              */
		int8_t created; /* … of one that has not begun                           */
		int8_t awaits;  /* … that waits for another; from 3.13                   */
		int8_t runs;
	} gen;
	struct {
		uint32_t locals;
		uint32_t stack;      /* its height in words, or a pointer behind its top      */
		bool top_is_pointer; /* until 3.9, and from 3.14                         */
		uint8_t awaited;     /* what it waits for is so many words below the top */
		uint32_t base;       /* where it begins: a pointer; 3.10, else behind the locals */
		uint32_t state;      /* a byte that is `runs` while it runs; until 3.10       */
		uint8_t runs;
	} frame;
	struct {
		uint32_t names;        /* co_varnames, or all names from 3.11            */
		uint32_t kinds;        /* from 3.11                                      */
		uint32_t frees, cells; /* until 3.10                                     */
		uint32_t code;         /* a bytes object; until 3.10                     */
	} code;
	uint32_t func; /* of a function: the cells that it shares with others */
	struct {
		uint32_t size; /* of a Task: so much of it holds all of the following    */
		uint32_t loop, callback, callbacks, state, waiter, coro, name;
	} task;
};

/* NULL: a version whose objects we do not know. */
const struct as_py_objects *as_py_objects(unsigned minor);
