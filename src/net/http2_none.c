#include "net/http2.h"

/* The build found no nghttp2. */
int as_http2_load(const struct as_http2 **ret, struct as_err *err)
{
	(void)ret;
	return as_fail(err, AS_EUNSUP,
		       "HTTP/2 cannot be spoken: this assay was built without nghttp2");
}
