#include "pyabi/layout.h"

#define NO AS_PY_NO

enum { OWNED_BY_C = 3 };

/* Of f_executing, until 3.9, and of f_state, in 3.10. */
enum { EXECUTING = 1 << 1, EXECUTING_OR_UNWINDING = 1 << 0 | 1 << 2 };

/* clang-format off */
static const struct as_py_layout known[] = {
	{ .minor = 8, .lines = AS_PY_LNOTAB,
	  .runtime = { .interpreters = 32, .current = 1368 },
	  .interp = { .next = 0, .threads = 8, .gil = NO, .modules = 56 },
	  .thread = { .size = 184, .next = 8, .interp = 16, .frame = 24, .via = NO, .cframe = NO, .pthread = 176, .tid = NO, .chunk = NO, .top = NO },
	  .frame = { .size = 117, .code = 32, .back = 24, .instr = 104, .alive = 116, .trace = 88, .alive_as = EXECUTING, .entry = NO, .stack = NO, .owner = NO, .shim = AS_PY_NO_SHIM },
	  .code = { .size = 128, .file = 104, .name = 112, .flags = 36, .first_line = 40, .lines = 120, .code = NO, .traceable = NO, .copies = NO },
	  .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72, .kind = 2 }, .bytes = 32 },
	{ .minor = 9, .lines = AS_PY_LNOTAB,
	  .runtime = { .interpreters = 32, .current = 568 },
	  .interp = { .next = 0, .threads = 8, .gil = NO, .modules = 856 },
	  .thread = { .size = 184, .next = 8, .interp = 16, .frame = 24, .via = NO, .cframe = NO, .pthread = 176, .tid = NO, .chunk = NO, .top = NO },
	  .frame = { .size = 117, .code = 32, .back = 24, .instr = 104, .alive = 116, .trace = 88, .alive_as = EXECUTING, .entry = NO, .stack = NO, .owner = NO, .shim = AS_PY_NO_SHIM },
	  .code = { .size = 128, .file = 104, .name = 112, .flags = 36, .first_line = 40, .lines = 120, .code = NO, .traceable = NO, .copies = NO },
	  .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72, .kind = 2 }, .bytes = 32 },
	{ .minor = 10, .lines = AS_PY_PEP626,
	  .runtime = { .interpreters = 32, .current = 568 },
	  .interp = { .next = 0, .threads = 8, .gil = NO, .modules = 856 },
	  .thread = { .size = 184, .next = 8, .interp = 16, .frame = 24, .via = NO, .cframe = 48, .pthread = 176, .tid = NO, .chunk = NO, .top = NO },
	  .frame = { .size = 109, .code = 32, .back = 24, .instr = 96, .alive = 108, .trace = 84, .alive_as = EXECUTING_OR_UNWINDING, .dead_linked = true, .entry = NO, .stack = NO, .owner = NO, .shim = AS_PY_NO_SHIM },
	  .code = { .size = 128, .file = 104, .name = 112, .flags = 36, .first_line = 40, .lines = 120, .code = NO, .traceable = NO, .copies = NO },
	  .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72, .kind = 2 }, .bytes = 32 },
	{ .minor = 11, .lines = AS_PY_LOCATIONS,
	  .runtime = { .interpreters = 40, .current = 576 },
	  .interp = { .next = 0, .threads = 16, .gil = NO, .modules = 888 },
	  .thread = { .size = 320, .next = 8, .interp = 16, .frame = 56, .via = 8, .cframe = 56, .pthread = 152, .tid = 160, .chunk = 296, .top = 304 },
	  .frame = { .size = 72, .code = 32, .back = 48, .instr = 56, .alive = NO, .trace = NO, .entry = 68, .stack = 64, .owner = 69, .shim = AS_PY_NO_SHIM },
	  .code = { .size = 192, .file = 112, .name = 128, .flags = 48, .first_line = 72, .lines = 136, .code = 184, .traceable = 168, .copies = NO },
	  .text = { .state = 32, .length = 16, .ascii = 48, .compact = 72, .kind = 2 }, .bytes = 32 },
	{ .minor = 12, .lines = AS_PY_LOCATIONS,
	  .runtime = { .interpreters = 40, .current = NO },
	  .interp = { .next = 0, .threads = 72, .gil = 384, .modules = 944 },
	  .gil = { .holder = 8, .locked = 16 },
	  .thread = { .size = 256, .next = 8, .interp = 16, .frame = 56, .via = 0, .cframe = 56, .pthread = 136, .tid = 144, .chunk = 232, .top = 240 },
	  .frame = { .size = 72, .code = 0, .back = 8, .instr = 56, .alive = NO, .trace = NO, .entry = NO, .stack = 64, .owner = 70, .shim = OWNED_BY_C },
	  .code = { .size = 200, .file = 112, .name = 128, .flags = 48, .first_line = 68, .lines = 136, .code = 192, .traceable = 176, .copies = NO },
	  .text = { .state = 32, .length = 16, .ascii = 40, .compact = 56, .kind = 2 }, .bytes = 32 },
};
/* clang-format on */

const struct as_py_layout *as_py_layout(unsigned minor)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].minor == minor)
			return &known[i];
	return NULL;
}
