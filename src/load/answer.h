#pragma once
/*
 * answer -- how the stub answers a request, as a script of a few words:
 *
 *	status=503&size=4KiB&delay=exp:10ms&framing=chunked&end=close
 *
 * The same words stand in `--answer` and in the query of a request, which wins.
 */
#include "base/buf.h"
#include "stat/random.h"

/* X(id, name, help) */
/* clang-format off */
#define AS_STUB_ENDS(X)                                                                            \
	X(KEEP,    "keep",    "answer, and keep the connection")                                   \
	X(CLOSE,   "close",   "answer, say so, and close it")                                      \
	X(DROP,    "drop",    "close it without an answer")                                        \
	X(RESET,   "reset",   "reset it without an answer")                                        \
	X(SHORT,   "short",   "close it ten bytes before the end of the body")                     \
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

struct as_stub_delay {
	enum { AS_DELAY_FIXED, AS_DELAY_EXP, AS_DELAY_UNIFORM } kind;
	int64_t a_ns, b_ns; /* the mean, or from and to */
};

struct as_stub_answer {
	unsigned status;
	uint64_t size; /* of the body */
	struct as_stub_delay delay;
	enum as_stub_framing framing;
	enum as_stub_end end;
};

enum { AS_STUB_BODY_MOST = 16 << 20 };

extern const struct as_stub_answer as_stub_usual;
/* "fixed", "end=reset&size=10": what it does not say stays as it is in *ret. */
int as_stub_parse(const char *script, struct as_stub_answer *ret, struct as_err *err);
int64_t as_stub_draw(const struct as_stub_delay *d, struct as_random *r);
/* The bytes of the answer. */
void as_stub_put(struct as_buf *out, const struct as_stub_answer *a);
