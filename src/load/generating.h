#pragma once
/*
 * generating -- a generator at work, as the files of it share it:
 *
 *	generator.c  its loop, from the first connection to the last answer
 *	exchange.c   one connection: dialled, written to, read from
 *	carrier.c    one connection of HTTP/2, and the requests on it
 *	talk.c       one connection that became a WebSocket
 *	flowing.c    sessions of a flow, one on each connection
 *	outcome.c    what came of a request, counted
 *	balance.c    which server gets the next one
 *	measured.c   for how long was measured
 */
#include "load/carrier.h"
#include "load/conns.h"
#include "load/generator.h"
#include "stat/random.h"

enum { AS_GEN_READ = 64 << 10 };

/* One of the places, and its connections that are free. */
struct as_gen_server {
	const struct as_load_place *place;
	struct as_load_server *out; /* NULL: it is the only one    */
	struct as_conns idle, down;
	struct as_conns sides;      /* WebSockets of sessions that nobody waits for */
	size_t address;             /* that is dialled, of place->to */
	uint64_t opened;            /* connections                   */
	uint32_t flight;            /* requests under way            */
	int64_t freed_ns;           /* when the last of them was over */
	int64_t until_ns;           /* it was not reached, and rests */
	struct as_carrier *filling; /* of HTTP/2: has seats left */
	struct as_http_known head;  /* of its last answer        */
};

struct as_generator {
	const struct as_load_config *cfg;
	struct as_load *out;
	struct as_pulse *pulse;
	struct as_load_slice *slice; /* of it, where what ends is counted */
	struct as_conn *conns;
	size_t nconns;
	struct as_conns flight, resting, thinking;
	struct as_conns talking;     /* steps over a WebSocket: each has a time of its own */
	struct as_session *sessions; /* of a flow: one for each connection */
	size_t at_work;              /* … those that are not over          */
	struct as_agenda agenda;     /* … and when those who think go on   */
	struct as_gen_server server[AS_LOAD_SERVERS];
	size_t nservers, turn; /* whose turn it is */
	char *bytes;           /* that were received last */
	int epoll;
	int64_t timeout_ns;
	int64_t start_ns, from_ns, end_ns; /* of sending, of measuring, of what is due */
	int64_t next_ns;                   /* when the next request is due: open loop  */
	int64_t first_ns;                  /* when the first of those was due that are measured */
	int64_t last_ns;                   /* of the last that was recorded            */
	int64_t rested_ns;                 /* of all connections, measured, with pauses */
	int64_t tick_ns;                   /* when a slice is given next               */
	int64_t noted_ns, cpu_ns, wait_ns; /* as they were when measuring began        */
	uint64_t issued, most, rows;       /* requests or sessions: begun, at most */
	bool measuring, noted, stopped, told;
	struct as_schedule schedule;
	struct as_carrier *carriers, *dirty; /* of HTTP/2; that have something to send */
	size_t ncarriers;
	struct as_random random; /* keys of a WebSocket, which nobody shall guess */
};

static inline bool as_gen_is_open(const struct as_generator *g)
{
	return g->cfg->schedule.rate > 0;
}

static inline size_t as_gen_under_way(const struct as_generator *g)
{
	return g->flight.n + g->talking.n;
}

/* A connection that was refused is not tried again at once: that would be an attack. */
#define AS_GEN_REST (100 * AS_MSEC)

/* The load is over, and so is the time that is left to sessions at work. */
static inline bool as_gen_is_late(const struct as_generator *g, int64_t now)
{
	return now - g->timeout_ns >= g->end_ns;
}

/* ── flowing.c ────────────────────────────────────────────────────────── */

int as_gen_seat(struct as_generator *g, struct as_err *err);
void as_gen_unseat(struct as_generator *g);
/* How its request ended, with what the flow, if there is one, thinks of it. */
enum as_load_error as_gen_judge(struct as_generator *g, struct as_conn *c, enum as_load_error kind,
				int64_t now);
/* It was released: if its session goes on, or rests before the next, it is not free. */
void as_gen_go_on(struct as_generator *g, struct as_conn *c, int64_t now);
/* The connection that the step of c's session needs; the other one waits. */
struct as_conn *as_gen_speaker(struct as_generator *g, struct as_conn *c);
/* Those whose pause, or whose time, is over. */
void as_gen_resume(struct as_generator *g, int64_t now);

/* ── balance.c ────────────────────────────────────────────────────────── */

/* A connection that is free for the next request; NULL: none is. */
struct as_conn *as_gen_free(const struct as_generator *g);
/* Since when it could have it. */
int64_t as_gen_ready(const struct as_generator *g, const struct as_conn *c);
/* It gets that request. */
void as_gen_chosen(struct as_generator *g, struct as_conn *c);

/* ── measured.c ───────────────────────────────────────────────────────── */

int64_t as_gen_measured(const struct as_generator *g, int64_t now);

/* ── outcome.c ────────────────────────────────────────────────────────── */

enum as_load_error as_gen_kind(int os); /* of an errno */
enum as_load_error as_gen_kind_of_status(unsigned status);
enum as_load_error as_gen_kind_of_fault(const struct as_tls_result *how);
void as_gen_record(struct as_generator *g, struct as_conn *c, enum as_load_error kind, int64_t now);
/* A connection is left for what was said there while no request was under way. */
void as_gen_unasked(struct as_generator *g);

/* ── exchange.c ───────────────────────────────────────────────────────── */

void as_gen_dial(struct as_generator *g, struct as_conn *c);
/* The next request, on a connection that is free. */
void as_gen_begin(struct as_generator *g, struct as_conn *c, int64_t due, int64_t now);
/* The next of its session, or the first. */
void as_gen_ask(struct as_generator *g, struct as_conn *c, int64_t due, int64_t now);
void as_gen_event(struct as_generator *g, struct as_conn *c, uint32_t events);
void as_gen_fail(struct as_generator *g, struct as_conn *c, enum as_load_error kind);
/* Its request, if it had one, is over; with a connection left it can have the next. */
void as_gen_release(struct as_conn *c, int64_t now);
void as_gen_drop(struct as_generator *g, struct as_conn *c);
void as_gen_watch(struct as_generator *g, struct as_conn *c, uint32_t events);
/* A seat has a carrier that is up. */
void as_gen_seated(struct as_generator *g, struct as_conn *c);
/* Bytes of a text/event-stream. */
void as_gen_body(struct as_generator *g, struct as_conn *c, const char *p, size_t n);
/* Bytes of c->request that are left. */
void as_gen_write(struct as_generator *g, struct as_conn *c);
/* A request can go, or wait for one. */
void as_gen_connected(struct as_generator *g, struct as_conn *c);
void as_gen_succeed(struct as_generator *g, struct as_conn *c);

/* ── talk.c ───────────────────────────────────────────────────────────── */

/* For all connections; false: no memory. */
bool as_talk_prepare(struct as_generator *g);
void as_talk_done(struct as_conn *c);
/* The connection is there: ask for a WebSocket. */
void as_talk_ask(struct as_generator *g, struct as_conn *c);
bool as_talk_is_asking(const struct as_conn *c); /* not answered yet */
/* The next message is what c->request says; it is kept until it can go. */
void as_talk_begin(struct as_conn *c);
void as_talk_send(struct as_generator *g, struct as_conn *c);
/* Some of it could go only now. */
void as_talk_wrote(struct as_generator *g, struct as_conn *c);
/* A step of its session, which is written. */
void as_talk_step(struct as_generator *g, struct as_conn *c);
/* Bytes came. */
void as_talk_take(struct as_generator *g, struct as_conn *c, const char *p, size_t n);
/* Say that we leave, if there is somebody to tell. */
void as_talk_leave(struct as_generator *g, struct as_conn *c);
