#include "net/link.h"

bool as_link_secure(struct as_link *l, const struct as_tls_context *with)
{
	l->by = with->by;
	l->session = with->by->begin(with->context, l->fd);
	return l->session;
}

enum as_tls_step as_link_handshake(struct as_link *l, struct as_tls_result *ret)
{
	return l->by->handshake(l->session, ret);
}

static void end_session(struct as_link *l)
{
	if (l->session)
		l->by->end(l->session);
	l->session = NULL;
}

void as_link_close(struct as_link *l)
{
	end_session(l);
	if (l->fd >= 0)
		as_hang_up(l->fd);
	l->fd = -1;
}

void as_link_cut(struct as_link *l)
{
	end_session(l);
	if (l->fd >= 0)
		as_cut_off(l->fd);
	l->fd = -1;
}
