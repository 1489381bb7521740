#pragma once
/*
 * stream -- an answer that comes in pieces, as it comes: when it began, when
 * its first event and its first token were there, what passed between events,
 * how many tokens it says it had.
 *
 * An event of a text/event-stream is one when its empty line was read; of other
 * answers in chunks each chunk is. Several that were read at once came at the
 * same moment: it is the network that put them together.
 *
 * An answer that is no stream may say how many tokens it had, too: then its
 * body is kept until it is whole.
 */
#include "net/http1.h"
#include "net/sse.h"
#include "run/load.h"

struct as_stream { /* all zeros: nothing came yet */
	struct as_sse sse;
	int64_t first_byte_ns, first_event_ns, first_token_ns; /* 0: not yet  */
	int64_t last_event_ns, last_token_ns, longest_gap_ns;
	bool told; /* how many tokens there are */
	int64_t tokens;
	uint64_t chunks;
	bool begun;         /* bytes were given to as_stream_keep() */
	struct as_buf json; /* of what is no stream: its body, if it looks like an object */
};

/* Where events count as they come: in the load, and in the slice of time. NULL: nowhere. */
struct as_stream_into {
	struct as_load_streams *load, *slice;
};

/* The next answer. */
void as_stream_begin(struct as_stream *s);
void as_stream_done(struct as_stream *s);
/* Bytes of the body of a text/event-stream. */
void as_stream_body(struct as_stream *s, struct as_stream_into to, const char *p, size_t n,
		    int64_t now);
/* Something of it came, whatever its kind: the beginning, chunks. */
void as_stream_note(struct as_stream *s, struct as_stream_into to, const struct as_http *http,
		    int64_t now);
/* Bytes of the body of another answer, of which `usage` shall be read when it is whole. */
void as_stream_keep(struct as_stream *s, const char *p, size_t n);
void as_stream_read_usage(struct as_stream *s);
/* It is over, in whatever way. */
void as_stream_record(struct as_stream *s, struct as_load_streams *to, int64_t due_ns);
/* The same of an answer that came at once. */
void as_stream_record_tokens(const struct as_stream *s, struct as_load_streams *to);
/* From its first token to the last, for each after the first; 0: it had one; -1: nobody knows. */
int64_t as_stream_per_token(const struct as_stream *s);
