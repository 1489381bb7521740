#pragma once
/*
 * link -- a connection over which bytes go as they are, or through TLS: whoever
 * sends and receives need not know which.
 */
#include "net/socket.h"
#include "net/tls.h"

struct as_link {
	int fd;        /* -1: there is none                  */
	void *session; /* of TLS; NULL: bytes go as they are */
	const struct as_tls *by;
};

/* Hides what goes from now on; the handshake is next. False: no memory. */
bool as_link_secure(struct as_link *l, const struct as_tls_context *with);
/* As far as it goes at once. */
enum as_tls_step as_link_handshake(struct as_link *l, struct as_tls_result *ret);
void as_link_close(struct as_link *l);
/* So that the other side sees a reset. */
void as_link_cut(struct as_link *l);

static inline ssize_t as_link_send(struct as_link *l, const char *p, size_t n)
{
	return l->session ? l->by->send(l->session, p, n) : as_send(l->fd, p, n);
}

static inline ssize_t as_link_recv(struct as_link *l, char *p, size_t n)
{
	return l->session ? l->by->recv(l->session, p, n) : as_recv(l->fd, p, n);
}

/* Receive again at once: the kernel will not say that something is there. */
static inline bool as_link_pending(const struct as_link *l)
{
	return l->session && l->by->pending(l->session);
}
