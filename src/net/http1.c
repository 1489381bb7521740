#include "net/http1.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/num.h"

#define LENGTH_MOST (UINT64_C(1) << 62)

enum { HEX_DIGITS = 15, STATUS_LEN = 12 /* "HTTP/1.1 200" */ };

static void reset(struct as_http *h)
{
	h->state = AS_HTTP_START;
	h->keep = false;
	h->status = 0;
	h->body = h->left = h->chunks = 0;
	h->has_length = h->has_coding = h->chunked = h->events = h->closes = false;
}

void as_http_response(struct as_http *h, bool bodyless)
{
	reset(h);
	h->request = false;
	h->bodyless = bodyless;
	h->head = h->line_len = 0;
	h->target = NULL;
	h->upgrade = NULL;
}

void as_http_request(struct as_http *h, char *target, size_t size)
{
	reset(h);
	h->request = true;
	h->bodyless = false;
	h->head = h->line_len = 0;
	h->target = target;
	h->target_size = size;
	h->upgrade = NULL;
}

/* ── lines ────────────────────────────────────────────────────────────── */

static void hold(struct as_http *h, const char *p, size_t n)
{
	size_t room = sizeof h->line - h->line_len;

	n = n < room ? n : room;
	memcpy(h->line + h->line_len, p, n);
	h->line_len += (uint32_t)n;
}

/* Without what ends it; of a long one the beginning. */
static struct as_span whole_line(const char *p, size_t n)
{
	n = n < AS_HTTP_LINE ? n : AS_HTTP_LINE;
	return as_span(p, n && p[n - 1] == '\r' ? n - 1 : n);
}

/* Takes bytes up to the end of a line; its text when it is whole, else p is NULL. */
static size_t take_line(struct as_http *h, const char *p, size_t n, struct as_span *ret)
{
	const char *end = memchr(p, '\n', n);
	size_t len = end ? (size_t)(end - p) : n, used = end ? len + 1 : len;

	*ret = as_span(NULL, 0);
	h->head += (uint32_t)(used <= AS_HTTP_HEAD_MOST ? used : AS_HTTP_HEAD_MOST + 1);
	if (h->head > AS_HTTP_HEAD_MOST) {
		h->state = AS_HTTP_HUGE;
		return used;
	}
	if (!end || h->line_len)
		hold(h, p, len);
	if (!end)
		return used;
	*ret = h->line_len ? whole_line(h->line, h->line_len) : whole_line(p, len);
	h->line_len = 0;
	return used;
}

static void bad(struct as_http *h)
{
	h->state = AS_HTTP_BAD;
}

/* ── the first line ───────────────────────────────────────────────────── */

/* "HTTP/1.0" or "HTTP/1.1"; which of them decides whether the connection goes on. */
static bool set_version(struct as_http *h, const char *p)
{
	h->keep = p[7] == '1';
	return !memcmp(p, "HTTP/1.", 7) && (p[7] == '0' || p[7] == '1');
}

static bool take_status(struct as_http *h, struct as_span line)
{
	uint64_t status = 0;

	if (line.n < STATUS_LEN || !set_version(h, line.p) || line.p[8] != ' ' ||
	    as_scan_u64(line.p + 9, 3, &status) != 3 || status < 100)
		return false;
	h->status = (uint16_t)status;
	return line.n == STATUS_LEN || line.p[STATUS_LEN] == ' ';
}

/* "GET /path HTTP/1.1" */
static bool take_request(struct as_http *h, struct as_span line)
{
	const char *target = memchr(line.p, ' ', line.n);

	if (!target || target == line.p || line.n < 9 || !set_version(h, line.p + line.n - 8))
		return false;
	const char *end = line.p + line.n - 9;
	if (*end != ' ' || ++target >= end)
		return false;
	if (h->target)
		(void)snprintf(h->target, h->target_size, "%.*s", (int)(end - target), target);
	return true;
}

static size_t take_start(struct as_http *h, const char *p, size_t n)
{
	struct as_span line;
	size_t used = take_line(h, p, n, &line);

	if (!line.p)
		return used;
	if (h->request ? take_request(h, line) : take_status(h, line))
		h->state = AS_HTTP_HEADER;
	else
		bad(h);
	return used;
}

/* ── headers ──────────────────────────────────────────────────────────── */

static bool take_length(struct as_http *h, struct as_span value)
{
	uint64_t length = 0;

	if (!value.n || as_scan_u64(value.p, value.n, &length) != value.n || length > LENGTH_MOST)
		return false;
	if (h->has_length && length != h->left)
		return false;
	h->has_length = true;
	h->left = length;
	return true;
}

/* Only what comes last tells where the body ends. */
static bool take_coding(struct as_http *h, struct as_span value)
{
	const char *comma = value.n ? memrchr(value.p, ',', value.n) : NULL;
	size_t skip = comma ? (size_t)(comma + 1 - value.p) : 0;
	struct as_span last = as_span_trim_blanks(as_span_skip(value, skip));

	if (h->has_coding || !value.n)
		return false;
	h->has_coding = true;
	h->chunked = as_span_is_nocase(last, "chunked");
	return true;
}

/* Who says that it closes has said it, whatever else stands there (RFC 9112, 9.3). */
static bool take_connection(struct as_http *h, struct as_span value)
{
	struct as_span word;

	while (as_span_cut(&value, ',', &word)) {
		word = as_span_trim_blanks(word);
		h->closes |= as_span_is_nocase(word, "close");
		h->keep = !h->closes && (h->keep || as_span_is_nocase(word, "keep-alive"));
	}
	return true;
}

/* "text/event-stream; charset=utf-8" */
static bool take_type(struct as_http *h, struct as_span value)
{
	struct as_span type;

	h->events = as_span_cut(&value, ';', &type) &&
		    as_span_is_nocase(as_span_trim_blanks(type), "text/event-stream");
	return true;
}

#define NAME(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

static const struct {
	struct as_span name;
	bool (*take)(struct as_http *h, struct as_span value);
	bool partly; /* its beginning is enough */
} known[] = {
	{NAME("content-length"), take_length, false},
	{NAME("transfer-encoding"), take_coding, false},
	{NAME("connection"), take_connection, false},
	{NAME("content-type"), take_type, true},
};

static bool is_name(struct as_span t)
{
	for (size_t i = 0; i < t.n; i++)
		if ((unsigned char)t.p[i] <= ' ' || (unsigned char)t.p[i] >= 0x7f)
			return false;
	return t.n > 0;
}

static bool is_plain(struct as_span t)
{
	return !t.n || (!memchr(t.p, '\0', t.n) && !memchr(t.p, '\r', t.n));
}

/* Of a WebSocket's handshake. */
static bool take_upgrade(struct as_http *h, struct as_span name, struct as_span value)
{
	struct as_http_upgrade *u = h->upgrade;

	if (as_span_is_nocase(name, "upgrade"))
		u->websocket = as_span_is_nocase(value, "websocket");
	else if (as_span_is_nocase(name, "sec-websocket-extensions"))
		u->extended = true;
	else if (as_span_is_nocase(name, h->request ? "sec-websocket-key" : "sec-websocket-accept"))
		(void)snprintf(u->text, sizeof u->text, "%.*s", (int)value.n, value.p);
	return true;
}

/* "Name: value"; one that matters must be whole. */
static bool take_field(struct as_http *h, struct as_span line)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct as_span name = as_span(line.p, colon ? (size_t)(colon - line.p) : 0);

	if (!is_name(name) || !is_plain(line))
		return false;
	struct as_span value = as_span_trim_blanks(as_span(colon + 1, line.n - name.n - 1));
	for (size_t i = 0; i < AS_LEN(known); i++)
		if (name.n == known[i].name.n && !strncasecmp(name.p, known[i].name.p, name.n))
			return (known[i].partly || line.n < AS_HTTP_LINE - 1) &&
			       known[i].take(h, value);
	return h->upgrade ? take_upgrade(h, name, value) : true;
}

/* Where the body begins, and how it will end. */
static enum as_http_state after_head(struct as_http *h)
{
	if (h->has_length && h->has_coding)
		return AS_HTTP_BAD;
	if (h->bodyless || h->status == 204 || h->status == 304)
		return AS_HTTP_DONE;
	if (h->has_coding)
		return h->chunked ? AS_HTTP_SIZE : h->request ? AS_HTTP_BAD : AS_HTTP_TO_THE_END;
	if (h->has_length || h->request)
		return h->left ? AS_HTTP_BODY : AS_HTTP_DONE;
	return AS_HTTP_TO_THE_END;
}

/* Nothing that an interim answer said is of the next. */
static void forget(struct as_http *h)
{
	reset(h);
	if (h->upgrade)
		*h->upgrade = (struct as_http_upgrade){0};
}

static void end_head(struct as_http *h)
{
	bool interim = !h->request && h->status < 200;

	if (interim && h->status == 101)
		h->state = h->upgrade ? AS_HTTP_DONE : AS_HTTP_BAD; /* nobody asked for it */
	else if (interim)
		forget(h); /* the real answer follows; `head` goes on, so this ends */
	else
		h->state = after_head(h);
	if (h->state == AS_HTTP_TO_THE_END)
		h->keep = false;
}

static size_t take_header(struct as_http *h, const char *p, size_t n)
{
	struct as_span line;
	size_t used = take_line(h, p, n, &line);

	if (!line.p)
		return used;
	if (!line.n)
		end_head(h);
	else if (!take_field(h, line))
		bad(h);
	return used;
}

/* ── the body ─────────────────────────────────────────────────────────── */

static size_t take_left(struct as_http *h, size_t n, enum as_http_state next)
{
	size_t used = n < h->left ? n : (size_t)h->left;

	h->left -= used;
	h->body += used;
	if (!h->left)
		h->state = next;
	return used;
}

static size_t take_body(struct as_http *h, const char *p, size_t n)
{
	(void)p;
	return take_left(h, n, AS_HTTP_DONE);
}

static size_t take_rest(struct as_http *h, const char *p, size_t n)
{
	(void)p;
	h->body += n;
	return n;
}

static size_t take_chunk(struct as_http *h, const char *p, size_t n)
{
	(void)p;
	n = take_left(h, n, AS_HTTP_AFTER);
	h->chunks += h->state == AS_HTTP_AFTER;
	return n;
}

/* "1a", "1a;name=value" */
static bool set_size(struct as_http *h, struct as_span line)
{
	size_t n = as_scan_hex(line.p, line.n, &h->left);

	return n && n <= HEX_DIGITS &&
	       (n == line.n || line.p[n] == ';' || as_is_blank(line.p[n])) &&
	       h->left <= LENGTH_MOST - h->body;
}

static size_t take_size(struct as_http *h, const char *p, size_t n)
{
	struct as_span line;
	size_t used = take_line(h, p, n, &line);

	if (!line.p)
		return used;
	h->head = 0; /* a limit of each line: a stream has many */
	if (!set_size(h, line))
		bad(h);
	else
		h->state = h->left ? AS_HTTP_CHUNK : AS_HTTP_TRAILER;
	return used;
}

static size_t take_after(struct as_http *h, const char *p, size_t n)
{
	struct as_span line;
	size_t used = take_line(h, p, n, &line);

	if (line.p)
		h->state = line.n ? AS_HTTP_BAD : AS_HTTP_SIZE;
	else if (h->line_len > 1) /* it can only be a '\r' */
		bad(h);
	return used;
}

static size_t take_trailer(struct as_http *h, const char *p, size_t n)
{
	struct as_span line;
	size_t used = take_line(h, p, n, &line);

	if (line.p && !line.n)
		h->state = AS_HTTP_DONE;
	return used;
}

/* ── all of it ────────────────────────────────────────────────────────── */

static size_t take_some(struct as_http *h, const char *p, size_t n)
{
	static size_t (*const take[])(struct as_http * h, const char *p, size_t n) = {
		[AS_HTTP_START] = take_start, [AS_HTTP_HEADER] = take_header,
		[AS_HTTP_BODY] = take_body,   [AS_HTTP_TO_THE_END] = take_rest,
		[AS_HTTP_SIZE] = take_size,   [AS_HTTP_CHUNK] = take_chunk,
		[AS_HTTP_AFTER] = take_after, [AS_HTTP_TRAILER] = take_trailer,
	};

	return take[h->state](h, p, n);
}

size_t as_http_feed(struct as_http *h, const char *p, size_t n)
{
	size_t used = 0;

	while (used < n && !as_http_over(h))
		used += take_some(h, p + used, n - used);
	return used;
}

static bool in_head(const struct as_http *h)
{
	return h->state == AS_HTTP_START || h->state == AS_HTTP_HEADER;
}

/* Nothing was read of it. A request's target, or what is said of an upgrade, would go elsewhere. */
static bool is_fresh(const struct as_http *h)
{
	return h->state == AS_HTTP_START && !h->head && !h->line_len && !h->request && !h->upgrade;
}

/* All that reading that head sets. */
static void become(struct as_http *h, const struct as_http *then)
{
	h->state = then->state;
	h->keep = then->keep;
	h->status = then->status;
	h->chunked = then->chunked;
	h->events = then->events;
	h->has_length = then->has_length;
	h->has_coding = then->has_coding;
	h->closes = then->closes;
	h->left = then->left;
	h->head = then->head;
}

static void remember(struct as_http_known *memo, const struct as_http *h, const char *p, size_t n)
{
	memo->n = n <= sizeof memo->bytes ? n : 0;
	memcpy(memo->bytes, p, memo->n);
	memo->then.bodyless = h->bodyless;
	become(&memo->then, h);
}

size_t as_http_take_head(struct as_http *h, struct as_http_known *memo, const char *p, size_t n)
{
	bool fresh = is_fresh(h);
	size_t used = 0;

	if (fresh && memo->n && memo->n <= n && h->bodyless == memo->then.bodyless &&
	    !memcmp(p, memo->bytes, memo->n)) {
		become(h, &memo->then);
		return memo->n;
	}
	while (used < n && in_head(h))
		used += take_some(h, p + used, n - used);
	if (fresh && !in_head(h))
		remember(memo, h, p, used);
	return used;
}

size_t as_http_step(struct as_http *h, const char *p, size_t n, struct as_span *ret)
{
	size_t used = 0;

	*ret = as_span(NULL, 0);
	while (used < n && !as_http_over(h) && !ret->n) {
		uint64_t body = h->body;

		used += take_some(h, p + used, n - used);
		ret->n = (size_t)(h->body - body);
	}
	ret->p = p + used - ret->n;
	return used;
}

bool as_http_is_farewell(const char *p, size_t n)
{
	return n >= 12 && !memcmp(p, "HTTP/1.", 7) && !memcmp(p + 8, " 408", 4);
}

void as_http_end(struct as_http *h)
{
	if (h->state == AS_HTTP_TO_THE_END)
		h->state = AS_HTTP_DONE;
}
