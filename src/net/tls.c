#include "net/tls.h"

#include "net/socket.h"

int as_tls_open(struct as_tls_context *ret, const struct as_tls_config *c, struct as_err *err)
{
	struct as_tls_context t = {0};
	struct as_tls_config config = *c;
	char why[AS_TLS_TEXT] = "";
	int r = as_tls_load(&t.by, err);

	if (r < 0)
		return r;
	config.send = as_send;
	config.recv = as_recv;
	t.context = t.by->open(&config, why);
	if (!t.context)
		return as_fail(err, AS_EUSAGE, "TLS: %s", why);
	*ret = t;
	return AS_OK;
}

void as_tls_close(struct as_tls_context *t)
{
	if (t->context)
		t->by->close(t->context);
	*t = (struct as_tls_context){0};
}
