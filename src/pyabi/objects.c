#include "pyabi/objects.h"

#define NO AS_PY_NO

static const struct as_py_objects known[] = {
	{.minor = 8, .gil = 1152}, {.minor = 9, .gil = 352}, {.minor = 10, .gil = 352},
	{.minor = 11, .gil = 360}, {.minor = 12, .gil = NO}, {.minor = 13, .gil = NO},
};

const struct as_py_objects *as_py_objects(unsigned minor)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].minor == minor)
			return &known[i];
	return NULL;
}
