#pragma once
/*
 * answer -- how the stub answers a request, as a script of a few words:
 *
 *	status=503&size=4KiB&delay=exp:10ms&framing=chunked&end=close
 *	sse=50&every=20ms&first=100ms
 *
 * The same words stand in `--answer`, in the routes of a script (load/routes.h)
 * and in the query of a request, which wins.
 *
 * A stream is an answer in pieces: the head after `delay`, the first piece
 * after `first` more, each that follows after `every`. The pieces are events of
 * a text/event-stream, or chunks.
 */
#include "base/buf.h"
#include "load/delay.h"

/* X(id, name, help) */
/* clang-format off */
#define AS_STUB_ENDS(X)                                                                            \
	X(KEEP,    "keep",    "answer, and keep the connection")                                   \
	X(CLOSE,   "close",   "answer, say so, and close it")                                      \
	X(DROP,    "drop",    "close it without an answer")                                        \
	X(RESET,   "reset",   "reset it without an answer")                                        \
	X(SHORT,   "short",   "close it ten bytes before the end of the body, a stream halfway")   \
	X(LONG,    "long",    "send ten bytes more than the answer says")                          \
	X(GARBAGE, "garbage", "send what is not HTTP")                                             \
	X(HEADERS, "headers", "send 100 KiB of headers")                                           \
	X(HALF,    "half",    "send half of the head and shut that direction")                     \
	X(DRIP,    "drip",    "send the body one byte at a time, 20 a second")                     \
	X(ENDLESS, "endless", "send chunks and never the last one")                                \
	X(SILENT,  "silent",  "never answer")
/* clang-format on */

enum as_stub_end {
#define X(id, name, help) AS_STUB_##id,
	AS_STUB_ENDS(X)
#undef X
		AS_STUB_NENDS
};

enum as_stub_framing { AS_STUB_LENGTH, AS_STUB_CHUNKED, AS_STUB_UNTIL_CLOSE };
enum as_stub_pieces { AS_STUB_WHOLE, AS_STUB_EVENTS, AS_STUB_CHUNKS };

enum { AS_STUB_BODY_MOST = 16 << 20, AS_STUB_PIECES_MOST = 100000000 };

/* What a route of a script says of the bytes; NULL and 0: it does not. */
struct as_stub_content {
	const char *type, *headers; /* headers: lines with their ends        */
	const char *body;           /* of an event its lines, of a chunk all */
	size_t len;
	const char *messages; /* of a WebSocket, one behind the other; else it echoes */
	const size_t *ends;   /* … of each                                            */
	size_t nmessages;
};

struct as_stub_answer {
	unsigned status;
	uint64_t size; /* of the body, of a chunk, of what fills an event */
	struct as_delay delay, first, every;
	enum as_stub_framing framing;
	enum as_stub_end end;
	enum as_stub_pieces kind;
	uint64_t pieces;
	bool model; /* the request says what it wants to hear (load/model.h) */
	const struct as_stub_content *content; /* borrowed; NULL: x's         */
};

extern const struct as_stub_answer as_stub_usual;
/* "fixed", "end=reset&size=10": what it does not say stays as it is in *ret. */
int as_stub_parse(const char *script, struct as_stub_answer *ret, struct as_err *err);
/* One of them: "size", "10". False: there is no such word. */
bool as_stub_is_word(const char *key);
int as_stub_word(const char *key, const char *value, struct as_stub_answer *ret,
		 struct as_err *err);

/* ── its bytes ────────────────────────────────────────────────────────── */

/* The whole answer; of a stream, or what is sent bit by bit, the head. */
void as_stub_put(struct as_buf *out, const struct as_stub_answer *a);
/* Piece `i` of a stream, sent now. */
void as_stub_put_piece(struct as_buf *out, const struct as_stub_answer *a, uint64_t i, int64_t now);
/* Bytes of a body as its framing wants them; and what ends it. */
void as_stub_put_framed(struct as_buf *out, const struct as_stub_answer *a, const char *p,
			size_t n);
void as_stub_put_end(struct as_buf *out, const struct as_stub_answer *a);
/* How many pieces will be sent: of one that ends early, half of them. */
uint64_t as_stub_pieces_of(const struct as_stub_answer *a);
