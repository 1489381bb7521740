#pragma once
/*
 * requests -- many requests under way at once, each with a body of its own, and
 * their answers kept whole.
 *
 * The generator (load/generator.h) sends one request as fast as can be; here
 * each is another one and its answer is wanted. One thread, one epoll, sockets
 * that never block. A call keeps its connection from one request to the next
 * as long as they go to the same place and the server agrees.
 */
#include "base/buf.h"
#include "net/address.h"
#include "net/http1.h"
#include "net/link.h"
#include "run/load.h"

enum { AS_ANSWER_MOST = 256 << 20 };

struct as_request {
	/* what is asked, set by the owner before as_request_begin() */
	const struct as_addresses *to;
	const struct as_tls_context *tls; /* NULL: bytes go as they are */
	struct as_buf request;            /* head and body */
	int64_t timeout_ns;               /* from then on, the connection included */
	void *owner;
	/* what came of it */
	enum as_load_error how; /* AS_LOAD_FINE: a status below 400      */
	struct as_buf head, body;
	int64_t begun_ns, ended_ns;
	uint64_t bytes_out, bytes_in;
	struct as_http http; /* with the status */
	bool stale;          /* it failed on a connection that had been used before: try again */
	/* private */
	const struct as_addresses *with; /* whom the connection is with */
	struct as_link link;
	bool asked, dialling, greeting, writing, reused;
	size_t address, sent;
	int64_t at_ns; /* when it is given up, or wakes; INT64_MAX: never */
};

struct as_requests {
	struct as_request *v;
	size_t n;
	uint64_t opened, bytes_out, bytes_in;
	uint64_t unasked; /* connections that were left for what was said there meanwhile */
	bool stopped;     /* stop_fd became readable */
	/* A call is over: it may be begun again, put to sleep, or be left free. */
	void (*done)(void *arg, struct as_request *c);
	void (*woke)(void *arg, struct as_request *c);
	void *arg;
	/* private */
	int epoll;
	char *bytes;
	int64_t check_ns;
};

/* `stop_fd`: -1, or what is readable when it shall end. as_requests_done() in any case. */
int as_requests_init(struct as_requests *k, size_t n, int stop_fd, struct as_err *err);
void as_requests_done(struct as_requests *k);
#define as_auto_requests as_cleanup(as_requests_done)

void as_request_begin(struct as_requests *k, struct as_request *c);
/* woke() is called then. */
void as_request_sleep(struct as_requests *k, struct as_request *c, int64_t until_ns);
/* Waits for something to happen, until then at most. */
void as_requests_turn(struct as_requests *k, int64_t until_ns);

/*
 * One request to one place, waited for: of a head server, of Docker. A status of
 * 400 or more is an error, but told, too; 0: there was no answer. NULL: not wanted.
 */
int as_request_once(const char *url, const char *method, const struct as_buf *body,
		    int64_t timeout_ns, unsigned *ret_status, struct as_buf *ret_body,
		    struct as_err *err);
