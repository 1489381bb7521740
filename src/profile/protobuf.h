#pragma once
/*
 * protobuf -- the wire format of protocol buffers, read and written by hand: a
 * field is its number and wire type, then a number in groups of seven bits or
 * a length and bytes.
 *
 * pprof needs ten messages of it; that is less than what a generated coder
 * brings along.
 */
#include "base/buf.h"

void as_pb_put_varint(struct as_buf *out, uint64_t v);
void as_pb_put_number(struct as_buf *out, unsigned field, int64_t v); /* 0 is left out */
void as_pb_put_bytes(struct as_buf *out, unsigned field, const void *p, size_t n);
void as_pb_put_message(struct as_buf *out, unsigned field, const struct as_buf *m);

/* A message that is being read: what is left of it. */
struct as_pb {
	const char *p;
	size_t n;
	bool bad; /* it ended in the middle of a field, or has a field of no kind known */
};

struct as_pb_field {
	unsigned number;
	uint64_t value;    /* of a number                     */
	struct as_pb body; /* of bytes, a text or a message   */
	bool has_body;
};

/* The next field; false at the end, and when it turned bad. */
bool as_pb_next(struct as_pb *m, struct as_pb_field *ret);
/* The next number of a packed list; likewise. */
bool as_pb_number(struct as_pb *list, uint64_t *ret);
