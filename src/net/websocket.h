#pragma once
/*
 * websocket -- messages over a connection that began as HTTP (RFC 6455): how it
 * becomes one, frames that are sent, frames as their bytes come in, however they
 * are cut.
 *
 * Nothing is believed: bits that nobody agreed on, a control frame that is long
 * or in pieces, a piece of no message, a message within another, text that is no
 * UTF-8, a side that masks and should not make it bad; a message of more than
 * AS_WS_MOST bytes makes it huge. Nothing of a message is kept: its bytes are
 * handed through where they lie.
 */
#include "base/buf.h"
#include "net/http1_write.h"

enum { AS_WS_KEY = 25, AS_WS_ACCEPT = 29, AS_WS_HEAD_MOST = 14, AS_WS_CONTROL_MOST = 125 };
enum { AS_WS_HEADERS = 60 };

#define AS_WS_MOST (UINT64_C(64) << 20)

enum as_ws_opcode {
	AS_WS_MORE = 0,
	AS_WS_TEXT = 1,
	AS_WS_BINARY = 2,
	AS_WS_CLOSE = 8,
	AS_WS_PING = 9,
	AS_WS_PONG = 10,
};

enum as_ws_code { /* of a close */
		  AS_WS_NORMAL = 1000,
		  AS_WS_WRONG = 1002, /* protocol error */
		  AS_WS_NO_CODE = 1005,
		  AS_WS_NOT_TEXT = 1007,
		  AS_WS_TOO_LARGE = 1009,
};

/* ── the upgrade ──────────────────────────────────────────────────────── */

/* What a client asks with, from bytes that nobody can guess, and what it must be answered. */
void as_ws_key(const unsigned char random[16], char ret[AS_WS_KEY]);
void as_ws_accept(const char *key, char ret[AS_WS_ACCEPT]);
/* The request; of `ask` the URL and headers count. The answer: as_http.upgrade. */
int as_ws_put_ask(struct as_buf *out, const struct as_http_ask *ask, const char *key,
		  struct as_err *err);

/* ── frames out ───────────────────────────────────────────────────────── */

/* The head of a whole message, masked with `key` unless that is NULL: how many bytes it has. */
size_t as_ws_head(unsigned char ret[AS_WS_HEAD_MOST], enum as_ws_opcode op, uint64_t n,
		  const unsigned char key[4]);
/* The frame. As a client says it: with a key, which must be a new one each time. */
void as_ws_put(struct as_buf *out, enum as_ws_opcode op, const char *p, size_t n,
	       const unsigned char key[4]);
void as_ws_put_close(struct as_buf *out, unsigned code, const unsigned char key[4]);
/* Is it UTF-8, and may be sent as text? */
bool as_ws_is_text(const char *p, size_t n);
/* Masks, or takes the mask off: bytes that begin `at` bytes behind the head. */
void as_ws_mask(char *to, const char *p, size_t n, const unsigned char key[4], uint64_t at);

/* ── frames in ────────────────────────────────────────────────────────── */

enum as_ws_kind {
	AS_WS_NOTHING, /* all bytes are taken, and the next must come */
	AS_WS_PIECE,   /* of a message; `p`, `n`, masked if a client sent it */
	AS_WS_MESSAGE, /* it is over                                  */
	AS_WS_CONTROL, /* a close, ping or pong: `control`            */
	AS_WS_IS_BAD,
	AS_WS_IS_HUGE,
};

struct as_ws_piece {
	enum as_ws_kind kind;
	const char *p;
	size_t n;
	uint64_t at; /* in its frame: for as_ws_mask() */
};

struct as_ws {                /* as_ws_begin() */
	uint64_t message;     /* bytes of it so far            */
	bool text;            /* what it says it is            */
	enum as_ws_opcode op; /* of the frame that came last   */
	unsigned code;        /* of a close                    */
	char control[AS_WS_CONTROL_MOST];
	size_t control_len;
	unsigned char key[4]; /* of the frame, if it is masked */
	/* private */
	bool server, open, last, over; /* open: a message is under way   */
	unsigned char head[AS_WS_HEAD_MOST];
	size_t head_len;
	uint64_t left, at; /* of the frame                         */
	uint32_t rune;     /* of text: what must follow, see utf8() */
	enum as_ws_kind broken;
};

/* `server`: what comes is from a client, and masked. */
void as_ws_begin(struct as_ws *w, bool server);
/*
 * Take bytes up to the next thing that is worth telling: how many that were. Call
 * it until it is AS_WS_NOTHING: a message may be over without another byte.
 */
size_t as_ws_step(struct as_ws *w, const char *p, size_t n, struct as_ws_piece *ret);
