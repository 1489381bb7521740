#pragma once
/*
 * sse -- events of a text/event-stream as its bytes come in, however they are
 * cut.
 *
 *	event: delta
 *	data: {"a":
 *	data: 1}
 *	(an empty line: that was an event)
 *
 * Lines end with CR, LF or both; one that begins with a colon is a comment;
 * several of data are joined by LF; an event without any is none. One whose
 * stream ended before its empty line never happened.
 *
 * Data that lies whole in the bytes is not copied, and memory is held only for
 * an event that is cut: ten thousand streams that rest cost nothing. What is
 * longer than AS_SSE_MOST, or for which there is no memory, is an event all
 * the same, but nobody knows its data. The same bytes give the same events
 * wherever they are cut.
 */
#include "base/buf.h"

enum { AS_SSE_MOST = 1 << 20, AS_SSE_NAME = 48 };

struct as_sse_event {
	const char *data; /* until the next call; NULL: unknown */
	size_t n;
	const char *name; /* of its kind; "" if it has none     */
};

struct as_sse { /* all zeros is the beginning of a stream */
	/* private */
	struct as_buf line, data; /* what was cut                          */
	const char *whole;        /* the only line of data, in the bytes   */
	size_t whole_len;
	size_t line_len, data_len; /* also what there was no room for       */
	uint32_t lines;            /* of data                               */
	bool begun, skip_lf, told, unknown;
	char name[AS_SSE_NAME];
};

/*
 * Takes bytes up to the end of an event: true, and it is in *ret, to be called
 * again with what is left, be it nothing. False: all were taken, and there is
 * no event. *used is how many were taken.
 */
bool as_sse_take(struct as_sse *s, const char *p, size_t n, size_t *used, struct as_sse_event *ret);
/* All zeros again. */
void as_sse_done(struct as_sse *s);
