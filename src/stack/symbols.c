#include "stack/symbols.h"

#include <dlfcn.h>

#include "base/libfile.h"

static int refuse(const char *why, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "no names of native code: %s", why);
	return as_hint(err, "it is installed as lib/assay/%s beside bin", AS_SYMBOLS_MODULE);
}

int as_symbols_load(const struct as_symbols **ret, struct as_err *err)
{
	char path[AS_LIBFILE_MAX];

	if (!as_libfile(AS_SYMBOLS_MODULE, path))
		return refuse("there is no file " AS_SYMBOLS_MODULE, err);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct as_symbols *s = module ? dlsym(module, AS_SYMBOLS_SYMBOL) : NULL;
	if (!s)
		return refuse(dlerror(), err);
	if (s->version != AS_SYMBOLS_VERSION)
		return refuse(AS_SYMBOLS_MODULE " is of another version of assay", err);
	*ret = s;
	return AS_OK;
}
