#include <dlfcn.h>

#include "base/libfile.h"
#include "net/http2.h"

static int refuse(const char *why, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "HTTP/2 cannot be spoken: %s", why);
	return as_hint(err, "it is installed as lib/assay/%s beside bin", AS_HTTP2_MODULE);
}

int as_http2_load(const struct as_http2 **ret, struct as_err *err)
{
	char path[AS_LIBFILE_MAX];

	if (!as_libfile(AS_HTTP2_MODULE, path))
		return refuse("there is no file " AS_HTTP2_MODULE, err);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct as_http2 *h = module ? dlsym(module, AS_HTTP2_SYMBOL) : NULL;
	if (!h)
		return refuse(dlerror(), err);
	if (h->version != AS_HTTP2_VERSION)
		return refuse(AS_HTTP2_MODULE " is of another version of assay", err);
	*ret = h;
	return AS_OK;
}
