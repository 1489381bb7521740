#pragma once
/*
 * stub -- a server that does what a script says, and counts what it did: the
 * truth that a load is held against, and a target to learn on.
 *
 * One thread. It listens where it is told, which is this machine alone unless
 * somebody insists.
 */
#include "load/routes.h"
#include "net/address.h"
#include "net/tls.h"

enum { AS_STUB_STALLS = 16 };

struct as_stub_config {
	struct as_address at; /* port 0: any; becomes the one that it got */
	struct as_stub_answer answer;
	struct {
		int64_t at_ns, for_ns; /* after the first request */
	} stalls[AS_STUB_STALLS];      /* no answer leaves meanwhile */
	size_t nstalls;
	const struct as_routes *routes;   /* of a script; NULL: none               */
	uint64_t servers;                 /* at work at once, the others queue; 0: no queue */
	struct as_delay service;          /* how long each is busy with a request   */
	int files;                        /* a folder for the model; -1: none       */
	const struct as_tls_context *tls; /* NULL: bytes go as they are            */
	int64_t duration_ns;              /* 0: until a signal */
	uint64_t seed;
};

struct as_stub_count {
	uint64_t conns, requests, answers; /* answers: written to their end */
	uint64_t bytes_in, bytes_out;
};

struct as_stub;

int as_stub_open(struct as_stub_config *c, struct as_stub **ret, struct as_err *err);
/* Until SIGINT, SIGTERM, or its time is over. */
int as_stub_serve(struct as_stub *s, struct as_stub_count *ret, struct as_err *err);
void as_stub_close(struct as_stub *s);
static inline void as_stub_close_(struct as_stub **s)
{
	as_stub_close(*s);
}
#define as_auto_stub as_cleanup(as_stub_close_)

/* "2s:1s": at 2 s, for 1 s. */
int as_stub_stall(struct as_stub_config *c, const char *text, struct as_err *err);
