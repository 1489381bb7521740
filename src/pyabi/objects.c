#include "pyabi/objects.h"

#define NO AS_PY_NO

/* clang-format off */
static const struct as_py_objects known[] = {
	{ .minor = 8, .gil = 1152, .tuple = 24, .attrs = AS_PY_ATTRS_DICT, .yields = AS_PY_YIELDS_CODE,
	  .keys = { .cached = 872, .size = 8, .index = NO, .kind = NO, .nentries = 32, .indices = 40, .values = 0 },
	  .gen = { .frame = 16, .state = NO },
	  .frame = { .locals = 360, .stack = 72, .top_is_pointer = true, .awaited = 1, .base = NO, .state = 116, .runs = 1 },
	  .code = { .names = 72, .kinds = NO, .frees = 80, .cells = 88, .code = 48 },
	  .func = 48,
	  .task = { .size = 128, .loop = 16, .callback = 24, .callbacks = 40, .state = 72, .waiter = 104, .coro = 112, .name = 120 } },
	{ .minor = 9, .gil = 352, .tuple = 24, .attrs = AS_PY_ATTRS_DICT, .yields = AS_PY_YIELDS_CODE,
	  .keys = { .cached = 864, .size = 8, .index = NO, .kind = NO, .nentries = 32, .indices = 40, .values = 0 },
	  .gen = { .frame = 16, .state = NO },
	  .frame = { .locals = 360, .stack = 72, .top_is_pointer = true, .awaited = 1, .base = NO, .state = 116, .runs = 1 },
	  .code = { .names = 72, .kinds = NO, .frees = 80, .cells = 88, .code = 48 },
	  .func = 48,
	  .task = { .size = 168, .loop = 16, .callback = 24, .callbacks = 40, .state = 80, .waiter = 144, .coro = 152, .name = 160 } },
	{ .minor = 10, .gil = 352, .tuple = 24, .attrs = AS_PY_ATTRS_DICT, .yields = AS_PY_YIELDS_CODE,
	  .keys = { .cached = 872, .size = 8, .index = NO, .kind = NO, .nentries = 32, .indices = 40, .values = 0 },
	  .gen = { .frame = 16, .state = NO },
	  .frame = { .locals = 352, .stack = 80, .awaited = 1, .base = 64, .state = 108, .runs = 0 },
	  .code = { .names = 72, .kinds = NO, .frees = 80, .cells = 88, .code = 48 },
	  .func = 72,
	  .task = { .size = 176, .loop = 16, .callback = 24, .callbacks = 40, .state = 88, .waiter = 152, .coro = 160, .name = 168 } },
	{ .minor = 11, .gil = 360, .tuple = 24, .attrs = AS_PY_ATTRS_BEFORE, .yields = AS_PY_YIELDS_RESUME,
	  .keys = { .cached = 872, .size = 8, .index = 9, .kind = 10, .nentries = 24, .indices = 32, .values = 0 },
	  .gen = { .frame = 80, .state = 75, .created = -2 },
	  .frame = { .locals = 72, .stack = 64, .awaited = 1, .base = NO, .state = NO },
	  .code = { .names = 96, .kinds = 104, .frees = NO, .cells = NO, .code = NO },
	  .func = 72,
	  .task = { .size = 152, .loop = 16, .callback = 24, .callbacks = 40, .state = 88, .waiter = 128, .coro = 136, .name = 144 } },
	{ .minor = 12, .gil = NO, .tuple = 24, .attrs = AS_PY_ATTRS_EITHER, .yields = AS_PY_YIELDS_RESUME, .tagged_int = true,
	  .keys = { .cached = 880, .size = 8, .index = 9, .kind = 10, .nentries = 24, .indices = 32, .values = 0 },
	  .gen = { .frame = 72, .state = 67, .created = -2 },
	  .frame = { .locals = 72, .stack = 64, .awaited = 1, .base = NO, .state = NO },
	  .code = { .names = 96, .kinds = 104, .frees = NO, .cells = NO, .code = NO },
	  .func = 72,
	  .task = { .size = 152, .loop = 16, .callback = 24, .callbacks = 40, .state = 88, .waiter = 128, .coro = 136, .name = 144 } },
	{ .minor = 13, .gil = NO, .tuple = 24, .attrs = AS_PY_ATTRS_INSIDE, .yields = AS_PY_YIELDS_STATE, .tagged_int = true,
	  .keys = { .cached = 880, .size = 8, .index = 9, .kind = 10, .nentries = 24, .indices = 32, .values = 8 },
	  .gen = { .frame = 72, .state = 67, .created = -3, .awaits = -1 },
	  .frame = { .locals = 72, .stack = 64, .awaited = 1, .base = NO, .state = NO },
	  .code = { .names = 96, .kinds = 104, .frees = NO, .cells = NO, .code = NO },
	  .func = 72,
	  .task = { .size = 136, .loop = 16, .callback = 24, .callbacks = 40, .state = 96, .waiter = 112, .coro = 120, .name = 128 } },
	{ .minor = 14, .gil = NO, .tuple = 32, .attrs = AS_PY_ATTRS_INSIDE, .yields = AS_PY_YIELDS_STATE, .tagged_int = true,
	  .keys = { .cached = 880, .size = 8, .index = 9, .kind = 10, .nentries = 24, .indices = 32, .values = 8 },
	  .gen = { .frame = 72, .state = 67, .created = -3, .awaits = -1 },
	  .frame = { .locals = 80, .stack = 64, .top_is_pointer = true, .awaited = 1, .base = NO, .state = NO },
	  .code = { .names = 96, .kinds = 104, .frees = NO, .cells = NO, .code = NO },
	  .func = 72,
	  .task = { .size = 144, .loop = 16, .callback = 24, .callbacks = 40, .state = 104, .waiter = 120, .coro = 128, .name = 136 } },
	{ .minor = 15, .gil = NO, .tuple = 32, .attrs = AS_PY_ATTRS_INSIDE, .yields = AS_PY_YIELDS_STATE, .tagged_int = true,
	  .keys = { .cached = 888, .size = 8, .index = 9, .kind = 10, .nentries = 24, .indices = 32, .values = 8 },
	  .gen = { .frame = 72, .state = 67, .created = 0, .awaits = 2, .runs = 4 },
	  .frame = { .locals = 80, .stack = 64, .top_is_pointer = true, .awaited = 2, .base = NO, .state = NO },
	  .code = { .names = 96, .kinds = 104, .frees = NO, .cells = NO, .code = NO },
	  .func = 72,
	  .task = { .size = 144, .loop = 16, .callback = 24, .callbacks = 40, .state = 104, .waiter = 120, .coro = 128, .name = 136 } },
};
/* clang-format on */

const struct as_py_objects *as_py_objects(unsigned minor)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].minor == minor)
			return &known[i];
	return NULL;
}
