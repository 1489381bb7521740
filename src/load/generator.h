#pragma once
/*
 * generator -- sends one request again and again, or those of a flow, and
 * measures the answers.
 *
 * One thread, one epoll. In a closed loop each connection sends when it has
 * its answer, and those of others that came with it were read. In an open loop
 * requests are due by a schedule, whatever the server does: one that is due
 * while all connections wait is sent, late, by the first that becomes free, and
 * its latency counts from the moment it was due. So a server that stalls cannot
 * hide behind those who wait for it.
 *
 * Connections are opened before the first request is due. A request is written
 * at once; the kernel is asked to tell of room only when that was not enough, and
 * tells of what came once. So an answered request costs two system calls and no
 * memory.
 *
 * Of several places each request goes to one (load/balance.c). A connection
 * stays with its place; there are enough of them for all that may be under way
 * to be under way there.
 */
#include "load/flow.h"
#include "load/pulse.h"
#include "load/schedule.h"
#include "net/address.h"
#include "net/http1_write.h"
#include "net/http2.h"
#include "net/tls.h"
#include "os/env.h"
#include "run/load.h"

enum { AS_LOAD_CONNS_MOST = 60000 };

enum as_balance {
	AS_ROUND_ROBIN,       /* one after the other                      */
	AS_LEAST_OUTSTANDING, /* to whom the fewest are under way         */
};

/* A server, and what is sent there: the requests differ in its name. */
struct as_load_place {
	char name[AS_LOAD_SERVER_NAME];
	struct as_addresses to;
	const struct as_tls_context *tls; /* NULL: bytes go as they are */
	const char *request;
	const size_t *ends;                /* of each of the requests in it, which take turns */
	const struct as_http_ask *upgrade; /* to a WebSocket, whose messages they are; or NULL */
};

struct as_load_config {
	const struct as_env *env;
	const struct as_load_place *place;
	size_t nplaces; /* 1 to AS_LOAD_SERVERS */
	enum as_balance balance;
	size_t nrequests;                /* of each place */
	const struct as_http2 *http2;    /* requests are streams of HTTP/2; NULL: HTTP/1.1 */
	uint32_t streams;                /* of it, at most so many on a connection           */
	bool binary;                     /* messages of a WebSocket are not text             */
	bool tokens;                     /* answers of JSON may say how many they have       */
	bool bodyless;                   /* answers have no body: the method is HEAD          */
	const struct as_flow_plan *flow; /* that is carried out instead; of one place, HTTP/1.1 */
	uint32_t conns;
	struct as_stages at_once;           /* of a closed loop: how many of them; none: all    */
	uint64_t requests;                  /* after the warm-up, or sessions; 0: no limit */
	int64_t duration_ns;                /* so long; 0: no limit                        */
	int64_t warmup_ns;                  /* what is due before is not measured          */
	int64_t timeout_ns;                 /* of a request, its connection included       */
	int64_t within_ns[AS_LOAD_NBOUNDS]; /* what makes an answer good; 0: nothing */
	struct as_schedule schedule;        /* rate 0: a closed loop               */
	uint64_t seed;
};

/* `ret` is all zeros. Ends early when it is told so through the pulse. */
int as_generate(const struct as_load_config *c, struct as_pulse *pulse, struct as_load *ret,
		struct as_err *err);
