#include "net/tls.h"

/* The build found no OpenSSL. */
int as_tls_load(const struct as_tls **ret, struct as_err *err)
{
	(void)ret;
	return as_fail(err, AS_EUNSUP,
		       "TLS cannot be spoken: this assay was built without OpenSSL");
}
