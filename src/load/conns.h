#pragma once
/*
 * conns -- the connections of a generator, each in one list: those that wait
 * for an answer in the order in which they began, so that whose time is up is
 * always the first; and those that are free.
 */
#include "load/session.h"
#include "load/stream.h"
#include "net/http1.h"
#include "net/http2.h"
#include "net/link.h"

enum as_conn_state {
	AS_CONN_DOWN,     /* there is none                                  */
	AS_CONN_DIALING,  /* it is being made                               */
	AS_CONN_GREETING, /* TLS is agreed on                              */
	AS_CONN_WRITING,  /* the request did not fit all at once            */
	AS_CONN_WAITING,  /* for the answer                                 */
	AS_CONN_IDLE,
};

struct as_conns;
struct as_carrier;
struct as_gen_server;
struct as_talk;

struct as_conn {
	struct as_gen_server *server; /* whom it is with */
	struct as_link link;
	enum as_conn_state state;
	bool asked; /* a request is under way, not only a connection    */
	const char *request;
	size_t len, sent;   /* bytes of it                                      */
	int64_t due_ns;     /* when the schedule wanted it                      */
	int64_t begun_ns;   /* when it was begun                                */
	int64_t freed_ns;   /* when the one before was over                     */
	int64_t dialled_ns; /* when the connection was begun                  */
	int64_t greeted_ns; /* when the handshake began                       */
	struct as_conns *in;
	struct as_conn *before, *after;
	struct as_http http;
	struct as_carrier *carrier; /* of HTTP/2: where this seat is; NULL: nowhere, or HTTP/1 */
	struct as_carrier *wire_of; /* whose own connection it is; NULL: nobody's  */
	struct as_http2_stream stream2;
	unsigned again;             /* how often servers left without looking at the request */
	struct as_talk *talk;       /* over a WebSocket; NULL: HTTP */
	struct as_session *session; /* whose requests it sends; NULL: nobody's */
	struct as_conn *peer;       /* … and its other one: a WebSocket, or HTTP; or NULL */
	struct as_stream stream;    /* if the answer is one */
};

struct as_conns {
	struct as_conn *first, *last;
	size_t n;
};

/* The WebSocket of a session, which has a connection for HTTP beside it. */
static inline bool as_conn_is_side(const struct as_conn *c)
{
	return c->talk && c->session;
}

/* From where it is to the end, or to the beginning, of a list. */
void as_conns_append(struct as_conns *to, struct as_conn *c);
void as_conns_push(struct as_conns *to, struct as_conn *c);
