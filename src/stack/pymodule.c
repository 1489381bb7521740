#include "stack/pymodule.h"

uint64_t as_pymodule_find(struct as_pyreader *r, uint64_t interp, const char *module,
			  const char *name)
{
	enum { READS_MOST = 1 << 17 };

	as_pyreader_allow(r, READS_MOST);
	uint64_t modules = as_pyword(r, interp + r->py->at.interp.modules);
	uint64_t found = as_pydict_find(r, modules, module);

	if (!found)
		return 0;
	return as_pydict_find(r, as_pyword(r, as_pybody(r, found) + AS_PY_MODULE_DICT), name);
}
