#pragma once
/*
 * http1 -- one message of HTTP/1.1 as its bytes come in, however they are cut.
 *
 * Nothing is kept of it but what a client must know: the status, where the body
 * ends, whether it is a stream, whether the connection goes on. The body is only
 * counted, and handed through to whoever takes it step by step. Nothing is
 * believed: a length that is said twice, or beside chunks, a line without a
 * colon, a stray control byte, a chunk that does not end where it should make
 * the message bad; a head of more than 64 KiB makes it huge.
 *
 * Lines are read where they lie. Of one that is cut by the end of the bytes the
 * beginning is kept until the rest comes: no header that matters is longer
 * than AS_HTTP_LINE. The same bytes give the same answer wherever they are cut.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum { AS_HTTP_LINE = 256, AS_HTTP_HEAD_MOST = 64 << 10 };

enum as_http_state {
	AS_HTTP_START,      /* the first line                                */
	AS_HTTP_HEADER,     /* those that follow                             */
	AS_HTTP_BODY,       /* `left` bytes of it                            */
	AS_HTTP_TO_THE_END, /* all that comes, until the connection ends     */
	AS_HTTP_SIZE,       /* the line before a chunk                       */
	AS_HTTP_CHUNK,      /* `left` bytes of it                            */
	AS_HTTP_AFTER,      /* the end of the line behind a chunk            */
	AS_HTTP_TRAILER,    /* lines behind the last chunk                   */
	AS_HTTP_DONE,
	AS_HTTP_BAD,
	AS_HTTP_HUGE,
};

/* Who wants to go on as a WebSocket, or agrees to. */
struct as_http_upgrade {
	bool websocket; /* "Upgrade: websocket" was said              */
	bool extended;  /* Sec-WebSocket-Extensions: of an answer, something nobody asked for */
	char text[32];  /* Sec-WebSocket-Key of a request, -Accept of a response; cut to fit */
};

struct as_http {
	enum as_http_state state;
	bool keep;       /* the connection may be used again         */
	uint16_t status; /* of a response                            */
	bool chunked;    /* the body comes in chunks                 */
	bool events;     /* it is text/event-stream                  */
	uint64_t body;   /* bytes of it so far, without chunks' heads */
	uint64_t chunks; /* that are whole                           */
	/* private */
	bool request, bodyless, has_length, has_coding, closes;
	uint64_t left;
	uint32_t head; /* bytes of lines so far */
	uint32_t line_len;
	char line[AS_HTTP_LINE]; /* the beginning of a line whose end has not come */
	char *target;            /* of a request goes there; or NULL              */
	size_t target_size;
	struct as_http_upgrade *upgrade; /* goes there; NULL: nobody asks, and 101 is bad */
};

/* The next response; `bodyless`: the request was a HEAD. */
void as_http_response(struct as_http *h, bool bodyless);
/* The next request; its target goes to `target`, cut to fit. */
void as_http_request(struct as_http *h, char *target, size_t size);
/* Take what belongs to the message: how many bytes that were. All of them, until it is over. */
size_t as_http_feed(struct as_http *h, const char *p, size_t n);
/* The same, no further than one piece of the body: it goes to *ret, n is 0 if there was none. */
size_t as_http_step(struct as_http *h, const char *p, size_t n, struct as_span *ret);
/*
 * What the head of a response came to, for the next that has the very same bytes: most servers
 * say the same each time, but for a date that changes once a second. All zeros: none is known.
 */
enum { AS_HTTP_KNOWN = 512 };
struct as_http_known {
	size_t n;
	char bytes[AS_HTTP_KNOWN];
	struct as_http then;
};
/*
 * Takes the head of a response, or what of it is there, and nothing behind it: how many bytes.
 * Where it is known it need not be read. 0: the head was read before.
 */
size_t as_http_take_head(struct as_http *h, struct as_http_known *memo, const char *p, size_t n);
/* "HTTP/1.1 408 …": a connection on which nobody asked for long is left (RFC 9110, 15.5.9). */
bool as_http_is_farewell(const char *p, size_t n);
/* No more bytes will come: done if that ends the body, else the message stays as it is. */
void as_http_end(struct as_http *h);

static inline bool as_http_over(const struct as_http *h)
{
	return h->state >= AS_HTTP_DONE;
}
