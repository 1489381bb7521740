#pragma once
/*
 * carrier -- a connection of HTTP/2, on which many requests are under way at once.
 *
 * A struct as_conn then is a seat: a request that may be under way, bound to a
 * carrier as long as that takes new ones. The carrier's own connection is an
 * as_conn too (`wire`), in no list: it is dialled and greeted as all are.
 *
 * When a server says that it leaves (GOAWAY), what it took goes on to its end,
 * what it did not look at is asked again elsewhere, and everybody finds another
 * carrier: as a client has to do, and without anything being counted twice.
 */
#include "load/conns.h"
#include "net/http2.h"

struct as_generator;

struct as_carrier {
	struct as_conn wire;
	struct as_generator *of;
	struct as_http2_session session;
	bool used, up, leaving, dirty; /* up: there is a session */
	uint32_t seats;                /* that are bound to it    */
	uint32_t busy;                 /* streams under way       */
	struct as_buf out;             /* what is to be sent    */
	size_t sent;
	int64_t read_ns;         /* when bytes came last */
	struct as_carrier *next; /* of those that are dirty */
};

bool as_carriers_prepare(struct as_generator *g); /* false: no memory */
void as_carriers_done(struct as_generator *g);
/* What was asked since goes out. */
void as_carriers_flush(struct as_generator *g);

/* Of a carrier's own connection. */
void as_carrier_reached(struct as_carrier *k);
void as_carrier_event(struct as_carrier *k, uint32_t events);
void as_carrier_fail(struct as_carrier *k, enum as_load_error kind);

/* Of a seat: find it a carrier, and ask what it has to ask when that is up. */
void as_seat_join(struct as_generator *g, struct as_conn *c);
void as_seat_ask(struct as_generator *g, struct as_conn *c);
/* What it asked is given up. */
void as_seat_leave(struct as_conn *c);
