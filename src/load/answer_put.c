#include "load/answer.h"

enum { TEN = 10, HUGE_HEADERS = 100 << 10, CHUNK = 1000 };

static bool is_chunked(const struct as_stub_answer *a)
{
	return a->framing == AS_STUB_CHUNKED || a->end == AS_STUB_ENDLESS ||
	       (a->kind != AS_STUB_WHOLE && a->framing != AS_STUB_UNTIL_CLOSE);
}

static size_t body_len(const struct as_stub_answer *a)
{
	return a->content && a->content->body ? a->content->len : (size_t)a->size;
}

/* ── the head ─────────────────────────────────────────────────────────── */

static const char *type_of(const struct as_stub_answer *a)
{
	if (a->content && a->content->type)
		return a->content->type;
	return a->kind == AS_STUB_EVENTS ? "text/event-stream" : "text/plain";
}

static void put_head(struct as_buf *out, const struct as_stub_answer *a)
{
	bool closes = a->end == AS_STUB_CLOSE || a->framing == AS_STUB_UNTIL_CLOSE;

	as_buf_fmt(out, "HTTP/1.1 %u Stub\r\nContent-Type: %s\r\n", a->status, type_of(a));
	if (a->content && a->content->headers)
		as_buf_str(out, a->content->headers);
	if (a->end == AS_STUB_HEADERS)
		for (size_t n = 0; n < HUGE_HEADERS; n += 64)
			as_buf_fmt(out, "X-%05zu: %054d\r\n", n, 0);
	if (is_chunked(a))
		as_buf_str(out, "Transfer-Encoding: chunked\r\n");
	else if (a->framing == AS_STUB_LENGTH)
		as_buf_fmt(out, "Content-Length: %zu\r\n",
			   body_len(a) + (a->end == AS_STUB_SHORT ? TEN : 0));
	as_buf_fmt(out, "%s\r\n", closes ? "Connection: close\r\n" : "");
}

/* ── the body ─────────────────────────────────────────────────────────── */

/* `n` bytes of the body, from `at`. */
static void put_bytes(struct as_buf *out, const struct as_stub_answer *a, size_t at, size_t n)
{
	if (a->content && a->content->body)
		as_buf_add(out, a->content->body + at, n);
	else
		as_buf_fill(out, 'x', n);
}

static void put_body(struct as_buf *out, const struct as_stub_answer *a)
{
	size_t len = body_len(a);

	if (!is_chunked(a)) {
		put_bytes(out, a, 0, len);
		as_buf_fill(out, 'x', a->end == AS_STUB_LONG ? TEN : 0);
		return;
	}
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < CHUNK ? len - at : CHUNK;
		as_buf_fmt(out, "%zx\r\n", n);
		put_bytes(out, a, at, n);
		as_buf_str(out, "\r\n");
	}
	as_stub_put_end(out, a);
}

void as_stub_put(struct as_buf *out, const struct as_stub_answer *a)
{
	if (a->end == AS_STUB_GARBAGE) {
		as_buf_str(out, "\001\377this is not HTTP\r\n\r\n");
		return;
	}
	put_head(out, a);
	if (a->end == AS_STUB_HALF)
		out->len /= 2;
	else if (a->kind == AS_STUB_WHOLE && a->end != AS_STUB_ENDLESS && a->end != AS_STUB_DRIP)
		put_body(out, a);
}

/* ── streams ──────────────────────────────────────────────────────────── */

void as_stub_put_framed(struct as_buf *out, const struct as_stub_answer *a, const char *p, size_t n)
{
	if (!is_chunked(a)) {
		as_buf_add(out, p, n);
		return;
	}
	as_buf_fmt(out, "%zx\r\n", n);
	as_buf_add(out, p, n);
	as_buf_str(out, "\r\n");
}

void as_stub_put_end(struct as_buf *out, const struct as_stub_answer *a)
{
	if (is_chunked(a))
		as_buf_str(out, "0\r\n\r\n");
}

/* An event says which it is and when it was sent, for whoever wants to know how late he is. */
static void put_event(struct as_buf *out, const struct as_stub_answer *a, uint64_t i, int64_t now)
{
	if (a->content && a->content->body) {
		as_buf_add(out, a->content->body, a->content->len);
	} else {
		as_buf_fmt(out, "data: {\"event\":%lu,\"assay_sent_ns\":%ld,\"text\":\"",
			   (unsigned long)i, (long)now);
		as_buf_fill(out, 'x', (size_t)a->size);
		as_buf_str(out, "\"}");
	}
	as_buf_str(out, "\n\n");
}

void as_stub_put_piece(struct as_buf *out, const struct as_stub_answer *a, uint64_t i, int64_t now)
{
	as_auto_buf struct as_buf piece = AS_BUF(AS_STUB_BODY_MOST * 2);

	if (a->kind == AS_STUB_EVENTS)
		put_event(&piece, a, i, now);
	else
		put_bytes(&piece, a, 0, body_len(a));
	out->bad |= piece.bad;
	if (piece.len)
		as_stub_put_framed(out, a, piece.p, piece.len);
	if (i + 1 == a->pieces)
		as_stub_put_end(out, a);
}

uint64_t as_stub_pieces_of(const struct as_stub_answer *a)
{
	return a->end == AS_STUB_SHORT ? (a->pieces + 1) / 2 : a->pieces;
}
