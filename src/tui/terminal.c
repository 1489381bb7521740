#include "tui/terminal.h"

#include <dlfcn.h>

#include "base/libfile.h"

static int refuse(const char *why, struct as_err *err)
{
	(void)as_fail(err, AS_EUNSUP, "no screen: %s", why);
	return as_hint(err, "it is installed as lib/assay/%s beside bin; without it: | cat",
		       AS_TERMINAL_MODULE);
}

/* The module stays: ncurses keeps what it has once taken, and so would be torn from it. */
int as_terminal_load(const struct as_terminal **ret, struct as_err *err)
{
	char path[AS_LIBFILE_MAX];

	if (!as_libfile(AS_TERMINAL_MODULE, path))
		return refuse("there is no file " AS_TERMINAL_MODULE, err);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct as_terminal *t = module ? dlsym(module, AS_TERMINAL_SYMBOL) : NULL;
	if (!t)
		return refuse(dlerror(), err);
	if (t->version != AS_TERMINAL_VERSION)
		return refuse(AS_TERMINAL_MODULE " is of another version of assay", err);
	*ret = t;
	return AS_OK;
}
