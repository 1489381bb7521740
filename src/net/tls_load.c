#include <dlfcn.h>

#include "base/libfile.h"
#include "net/tls.h"

static int refuse(const char *why, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "TLS cannot be spoken: %s", why);
	return as_hint(err, "it is installed as lib/assay/%s beside bin", AS_TLS_MODULE);
}

int as_tls_load(const struct as_tls **ret, struct as_err *err)
{
	char path[AS_LIBFILE_MAX];

	if (!as_libfile(AS_TLS_MODULE, path))
		return refuse("there is no file " AS_TLS_MODULE, err);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct as_tls *t = module ? dlsym(module, AS_TLS_SYMBOL) : NULL;
	if (!t)
		return refuse(dlerror(), err);
	if (t->version != AS_TLS_VERSION)
		return refuse(AS_TLS_MODULE " is of another version of assay", err);
	*ret = t;
	return AS_OK;
}
