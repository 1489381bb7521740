#include "stack/symbols.h"

/* The build found no elfutils. */
int as_symbols_load(const struct as_symbols **ret, struct as_err *err)
{
	(void)ret;
	return as_fail(err, AS_EUNSUP,
		       "no names of native code: this assay was built without elfutils");
}
