#pragma once
/*
 * serving -- a stub at work, as the files of it share it:
 *
 *	stub.c    its loop and its life
 *	client.c  one connection: read from, written to, left
 *	reply.c   what a request gets, and when
 *
 * A request goes this way: read, in the queue until a server is free, served,
 * delayed, answered; a stream then piece by piece. Whoever waits is on the
 * agenda. Moments follow from moments that were set, not from those at which
 * we came to them: a stub that is late does not become later.
 */
#include "load/agenda.h"
#include "load/model.h"
#include "load/stub.h"
#include "net/http1.h"
#include "net/link.h"
#include "net/websocket.h"

enum { AS_STUB_TARGET = 512, AS_STUB_READ = 64 << 10 };

enum as_client_phase {
	AS_CLIENT_ASKS,    /* a request is read, or awaited             */
	AS_CLIENT_QUEUES,  /* until a server is free                    */
	AS_CLIENT_SERVED,  /* a server is busy with it                  */
	AS_CLIENT_WAITS,   /* for the head of its answer                */
	AS_CLIENT_STREAMS, /* for the next piece, or the next byte      */
};

struct as_client {
	struct as_appointment when; /* the first member: the agenda leads back here */
	struct as_link link;
	enum as_client_phase phase;
	bool greeting; /* TLS is agreed on                          */
	bool armed;    /* told of room to write                        */
	bool gone;     /* to be freed after this round of events       */
	bool owed;     /* a piece was due before the last was written  */
	struct as_stub_answer answer;
	const char *out; /* what is written: the usual answer, or `own` */
	size_t out_len, sent;
	struct as_buf own, body; /* body: of a request to the model     */
	struct as_model_reply *model;
	uint64_t piece; /* the next, of as_stub_pieces_of()             */
	struct as_http http;
	struct as_http_upgrade upgrade;
	struct as_ws *ws; /* it is a WebSocket; NULL: HTTP */
	char target[AS_STUB_TARGET];
	struct as_client *before, *after; /* of all                     */
	struct as_client *behind;         /* in the queue               */
};

struct as_stub {
	struct as_stub_config *cfg;
	struct as_stub_count count;
	struct as_random random;
	struct as_buf usual; /* the answer that no request asked to be otherwise */
	char *bytes;
	int listener, epoll, signals;
	int64_t first_ns; /* of the first request; 0: none yet */
	struct as_client *clients, *dead;
	struct as_agenda agenda;
	struct as_client *queue, *queue_last; /* who waits for a server */
	uint64_t busy;                        /* servers                */
	bool over, starved;
};

/* ── client.c ─────────────────────────────────────────────────────────── */

void as_client_welcome(struct as_stub *s, int fd);
void as_client_listen(struct as_client *c);
void as_client_readable(struct as_stub *s, struct as_client *c);
/* Writes what is to be written, as far as it goes. */
void as_client_write(struct as_stub *s, struct as_client *c);
/* Gone at once, freed when the events that may still name it are done. */
void as_client_leave(struct as_stub *s, struct as_client *c, bool rudely);
void as_clients_free(struct as_client **list);

/* ── reply.c ──────────────────────────────────────────────────────────── */

/* The request is whole; perhaps it wants to become a WebSocket. */
void as_reply_asked(struct as_stub *s, struct as_client *c);
/* Its moment has come. */
void as_reply_due(struct as_stub *s, struct as_client *c);
/* A message of a WebSocket is whole: `body`. */
void as_reply_message(struct as_stub *s, struct as_client *c);
/* All that was to be written is. */
void as_reply_written(struct as_stub *s, struct as_client *c);
/* It goes: a server, or a place in the queue, becomes free. */
void as_reply_forget(struct as_stub *s, struct as_client *c);
