#pragma once
/*
 * http2 -- many requests at once over one connection, as streams of HTTP/2.
 *
 * What does it is nghttp2, in a module of its own (nghttp2.c). It moves no bytes
 * by itself: what comes is given to take(), what is to be sent is got from
 * give(). Memory for each stream is the caller's, who is told what came of it.
 * Windows are so large that they never hold an answer up.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { AS_HTTP2_PAIRS = 72, AS_HTTP2_NAMES = 4096 };

struct as_http2_pair {
	const char *name, *value;
	size_t name_len, value_len;
};

/* A request, as as_http2_read() makes it of the bytes that HTTP/1.1 would send. */
struct as_http2_ask {
	struct as_http2_pair v[AS_HTTP2_PAIRS];
	size_t n;
	const char *body; /* stays where it is until the request is over */
	size_t body_len;
	/* private */
	char names[AS_HTTP2_NAMES]; /* in small letters */
	size_t names_len;
};

/* False: it has too many headers, or too long names. */
bool as_http2_read(const char *request, size_t n, const char *scheme, struct as_http2_ask *ret);

enum as_http2_end {
	AS_HTTP2_DONE,
	AS_HTTP2_RESET,   /* by the server                                       */
	AS_HTTP2_REFUSED, /* the server leaves and did not look at it: ask again */
	AS_HTTP2_BAD,     /* the answer is not as it should be                   */
};

struct as_http2_stream { /* one request */
	uint16_t status;
	bool events; /* the answer is text/event-stream */
	/* private */
	int32_t id;
	bool reset;
	const char *body;
	size_t left;
};

struct as_http2_ears {
	void (*head)(struct as_http2_stream *s, void *arg); /* the answer begins */
	void (*body)(struct as_http2_stream *s, void *arg, const char *p, size_t n);
	/* The stream is the caller's again; sessions must not be closed meanwhile. */
	void (*over)(struct as_http2_stream *s, void *arg, enum as_http2_end how);
	void (*ready)(void *arg); /* the server said how much it allows: ask from now on  */
	void (*away)(void *arg);  /* GOAWAY: what is under way may go on, nothing new */
};

struct as_http2_session {
	const struct as_http2_ears *ears;
	void *arg;
	/* private */
	void *of;
	bool ready, away;
};

/* What the module does. */
struct as_http2 {
	size_t version;                           /* AS_HTTP2_VERSION                    */
	bool (*open)(struct as_http2_session *s); /* ears and arg are set; false: no memory */
	bool (*ask)(struct as_http2_session *s, const struct as_http2_ask *ask,
		    struct as_http2_stream *stream);
	/* Nothing more is told of it. */
	void (*cancel)(struct as_http2_session *s, struct as_http2_stream *stream);
	bool (*take)(struct as_http2_session *s, const char *p, size_t n); /* false: it broke */
	/* What is to be sent next, until there is nothing: 0. */
	size_t (*give)(struct as_http2_session *s, const char **ret);
	bool (*over)(const struct as_http2_session *s); /* nothing more will come or go */
	void (*close)(struct as_http2_session *s);
};

#define AS_HTTP2_MODULE "assay-http2.so"
#define AS_HTTP2_SYMBOL "as_http2_nghttp2"
#define AS_HTTP2_VERSION                                                                           \
	(1001 + sizeof(struct as_http2) + sizeof(struct as_http2_ask) +                            \
	 sizeof(struct as_http2_stream) + sizeof(struct as_http2_session))

/* EUNSUP: this build has none. */
int as_http2_load(const struct as_http2 **ret, struct as_err *err);
