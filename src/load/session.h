#pragma once
/*
 * session -- one visitor who carries out a flow (load/flow.h): which step it is
 * at, its cookies, what it found, its row.
 *
 * It writes the bytes of each request, or message of a WebSocket, and reads the
 * answers; who sends them, and when, is the generator (load/flowing.c, talk.c).
 */
#include "load/agenda.h"
#include "load/flow.h"
#include "net/cookies.h"
#include "net/http1.h"
#include "stat/random.h"

enum { AS_SESSION_BODY = 64 << 20 }; /* of an answer that is kept */

struct as_session {
	const struct as_flow_plan *plan;
	struct as_appointment waits; /* for its next request           */
	uint32_t vu;                 /* from 1                         */
	uint64_t iteration, number;  /* from 1; of all sessions        */
	bool at_work;                /* it is not over                 */
	size_t step;
	uint64_t tries;  /* of an until; messages that came, of a WebSocket */
	int64_t due_ns;  /* when it was due to begin                    */
	int64_t step_ns; /* … its step                                 */
	int64_t next_ns; /* … and its next request, or its successor   */
	struct as_cookies cookies;
	struct as_random random;
	char target[AS_URL_TARGET]; /* of its request: path and query  */
	size_t asked;               /* … and the step that it is of    */
	bool starved;               /* no room to write it, or to look at its answer */
	struct as_buf request, head, body;
	struct as_buf message, heard; /* of a WebSocket: sent, and what comes */
	struct as_buf missed;         /* … while nobody waits for it: length and bytes of each */
	size_t recalled;              /* … of that, how much was looked at by now              */
	struct as_buf values[AS_FLOW_SLOTS];
};

void as_session_init(struct as_session *s, const struct as_flow_plan *plan, uint32_t vu,
		     uint64_t seed);
void as_session_done(struct as_session *s);

/* From the first step, with nothing in its memory. */
void as_session_begin(struct as_session *s, uint64_t number, int64_t due_ns);
/*
 * The request of its step goes to s->request; of a WebSocket the upgrade, without
 * its key and its end, and the message to s->message. False: what it found does
 * not fit there, or s->starved.
 */
bool as_session_write(struct as_session *s);
/* Bytes of the answer, as as_http_step() took them. */
void as_session_keep(struct as_session *s, const char *p, size_t n, bool head,
		     const struct as_span *piece);
/*
 * The whole answer is there. How the request ended; what was checked is counted
 * in `to`, if not NULL. The session goes on at next_ns, or is over.
 */
enum as_load_error as_session_answer(struct as_session *s, const struct as_http *http,
				     int64_t due_ns, int64_t now, struct as_load *to);
/* The server agreed to a WebSocket: the cookies that it set. */
void as_session_upgraded(struct as_session *s);
/* A whole message is in s->heard. True: it is what the step waits for, or s->starved. */
bool as_session_heard(struct as_session *s, int64_t due_ns, int64_t now);
/* The same, but nobody waits: it is kept if a step does that sends nothing before. */
void as_session_miss(struct as_session *s);
/* The next of those that were missed goes to s->heard. False: there is none. */
bool as_session_recall(struct as_session *s);
void as_session_forget(struct as_session *s); /* all of them */
/* There was no answer. */
void as_session_break(struct as_session *s);
