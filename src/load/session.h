#pragma once
/*
 * session -- one visitor who carries out a flow (load/flow.h): which step it is
 * at, its cookies, what it found, its row.
 *
 * It writes the bytes of each request and reads the answers; who sends them,
 * and when, is the generator (load/flowing.c).
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
	uint64_t tries;  /* of an until                                 */
	int64_t due_ns;  /* when it was due to begin                    */
	int64_t step_ns; /* … its step                                 */
	int64_t next_ns; /* … and its next request, or its successor   */
	struct as_cookies cookies;
	struct as_random random;
	char target[AS_URL_TARGET]; /* of its request: path and query  */
	size_t asked;               /* … and the step that it is of    */
	struct as_buf request, head, body;
	struct as_buf values[AS_FLOW_SLOTS];
};

void as_session_init(struct as_session *s, const struct as_flow_plan *plan, uint32_t vu,
		     uint64_t seed);
void as_session_done(struct as_session *s);

/* From the first step, with nothing in its memory. */
void as_session_begin(struct as_session *s, uint64_t number, int64_t due_ns);
/* The request of its step goes to s->request. False: what it found does not fit there. */
bool as_session_write(struct as_session *s);
/* Bytes of the answer, as as_http_step() took them. */
void as_session_keep(struct as_session *s, const char *p, size_t n, bool head,
		     const struct as_http_piece *piece);
/*
 * The whole answer is there. How the request ended; what was checked is counted
 * in `to`, if not NULL. The session goes on at next_ns, or is over.
 */
enum as_load_error as_session_answer(struct as_session *s, const struct as_http *http,
				     int64_t due_ns, int64_t now, struct as_load *to);
/* There was no answer. */
void as_session_break(struct as_session *s);
