#include "oracle_http1.h"

#include <ctype.h>
#include <http_parser.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "net/http1.h"

/* What an answer comes to. */
struct told {
	bool done, keep, events;
	unsigned status;
	size_t used;
	uint64_t chunks;
	struct as_buf body;
	struct as_http_upgrade upgrade;
};

enum { TEXT = AS_HTTP_LINE, HEX_DIGITS = 15, CODING_LEN = sizeof "transfer-encoding" - 1 };

#define DIGITS "0123456789"

/* Theirs, fed byte by byte: so it is known where in the bytes they are. */
struct other {
	http_parser parser;
	struct told told;
	const char *p;
	size_t n, at;      /* all bytes; where they are           */
	size_t begin;      /* … of the message: some are interim  */
	size_t next, line; /* where it must begin, a chunk's line */
	bool bodyless, over, in_value, head_over;
	char name[TEXT], value[TEXT + 1]; /* it ends with a NUL */
	size_t name_len, value_len;
	/* what makes a difference */
	bool odd_first, odd_line, odd_chunk, long_line, tab, nul, odd_list, lone_cr, proxy, close,
		keep_alive, longer;
	unsigned codings;
	uint64_t length;
};

static void must(int holds)
{
	if (!holds)
		abort();
}

/* ── theirs: headers ──────────────────────────────────────────────────── */

static bool is(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !strncasecmp(text, word, n);
}

static bool has(const struct other *o, const char *word)
{
	return o->value_len < TEXT && memmem(o->value, o->value_len, word, strlen(word));
}

/* They lose their way in a list where a word is odd, or only begins as one that they know. */
static bool is_odd_list(const char *v, size_t n)
{
	static const char *const words[] = {"chunked", "close", "keep-alive", "upgrade"};

	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(v + i, ", ");

		if (v[i] == ' ' || (i && v[i - 1] != ',' && v[i - 1] != ' '))
			continue;
		if (!isalnum((unsigned char)v[i]))
			return true;
		for (size_t k = 0; len < n - i && k < AS_LEN(words); k++)
			if (len < strlen(words[k]) && !strncasecmp(v + i, words[k], len))
				return true;
	}
	return false;
}

static void note_odd(struct other *o)
{
	bool coding = is(o->name, o->name_len, "transfer-encoding");

	o->proxy |= is(o->name, o->name_len, "proxy-connection");
	o->longer |=
		!coding && o->name_len > CODING_LEN && is(o->name, CODING_LEN, "transfer-encoding");
	if (coding)
		o->codings += o->value_len ? 1 : 2;
	if (!coding && !is(o->name, o->name_len, "connection"))
		return;
	o->odd_list |= is_odd_list(o->value, o->value_len);
	for (size_t i = 0; i < o->value_len; i++)
		o->value[i] |= 0x20; /* lower case; other bytes do not matter here */
	o->close |= has(o, "close");
	o->keep_alive |= has(o, "keep-alive");
}

static void end_field(struct other *o)
{
	struct as_http_upgrade *u = &o->told.upgrade;
	const char *name = o->name, *v = o->value;

	if (!o->in_value)
		return;
	while (o->value_len && strchr(" \t", v[o->value_len - 1]))
		o->value_len--;
	if (is(name, o->name_len, "content-type")) {
		const char *end = memchr(v, ';', o->value_len);
		size_t n = end ? (size_t)(end - v) : o->value_len;

		while (n && strchr(" \t", v[n - 1]))
			n--;
		o->told.events = is(v, n, "text/event-stream");
	} else if (is(name, o->name_len, "upgrade")) {
		u->websocket = is(v, o->value_len, "websocket");
	} else if (is(name, o->name_len, "sec-websocket-extensions")) {
		u->extended = true;
	} else if (is(name, o->name_len, "sec-websocket-accept")) {
		(void)snprintf(u->text, sizeof u->text, "%.*s", (int)o->value_len, v);
	}
	note_odd(o);
	o->name_len = o->value_len = 0;
	o->in_value = false;
}

static void add(char *to, size_t *len, const char *p, size_t n)
{
	for (; n && *len < TEXT; n--)
		to[(*len)++] = *p++;
}

static int on_field(http_parser *p, const char *at, size_t n)
{
	struct other *o = p->data;

	if (!o->head_over) {
		end_field(o);
		add(o->name, &o->name_len, at, n);
	}
	return 0;
}

static int on_value(http_parser *p, const char *at, size_t n)
{
	struct other *o = p->data;

	o->in_value = !o->head_over;
	if (o->in_value)
		add(o->value, &o->value_len, at, n);
	return 0;
}

/* ── theirs: what of it is odd ────────────────────────────────────────── */

/* "HTTP/1.1 200", then a blank or the end of the line. */
static bool is_first(const char *p, size_t n)
{
	static const char *const may[] = {"H",  "T", "T",         "P",    "/",    "1",    ".",
					  "01", " ", "123456789", DIGITS, DIGITS, " \r\n"};

	for (size_t i = 0; i < AS_LEN(may); i++)
		if (i >= n || !p[i] || !strchr(may[i], p[i]))
			return false;
	return true;
}

static void look_at_line(struct other *o, const char *p, size_t n)
{
	const char *colon = memchr(p, ':', n);
	size_t name = colon ? (size_t)(colon - p) : n;

	o->odd_line |= memchr(p, ' ', name) || memchr(p, '\t', name);
	o->tab |= memchr(p, '\t', n) != NULL;
	o->nul |= memchr(p, '\0', n) != NULL;
	o->long_line |= n >= TEXT - 1;
}

static void look_at_head(struct other *o)
{
	const char *p = o->p + o->begin, *end = o->p + o->at;
	const char *line = memchr(p, '\n', (size_t)(end - p));

	o->long_line |= line && line - p >= TEXT - 1;
	for (p = line ? line + 1 : end; p < end; p = line + 1) {
		line = memchr(p, '\n', (size_t)(end - p));
		if (!line)
			line = end;
		look_at_line(o, p, (size_t)(line - p));
	}
}

/* Ours end a line with LF, and nothing else; theirs do not look at what is behind a CR. */
static void look_for_cr(struct other *o)
{
	for (size_t i = 0; i < o->told.used; i++)
		o->lone_cr |= o->p[i] == '\r' && (i + 1 == o->n || o->p[i + 1] != '\n');
}

/* ── theirs: the message ──────────────────────────────────────────────── */

static int on_begin(http_parser *p)
{
	struct other *o = p->data;

	o->begin = o->at;
	o->odd_first |= o->begin != o->next || !is_first(o->p + o->begin, o->n - o->begin);
	return 0;
}

static int on_head(http_parser *p)
{
	struct other *o = p->data;
	bool bare = p->status_code < 200 || p->status_code == 204 || p->status_code == 304;

	end_field(o);
	o->head_over = true;
	if (o->bodyless || bare)
		p->flags |= F_SKIPBODY; /* as they will when this returns */
	o->told.keep = http_should_keep_alive(p);
	o->length = p->flags & F_CONTENTLENGTH ? p->content_length : 0;
	o->line = o->at + 1;
	look_at_head(o);
	return o->bodyless || bare;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct other *o = p->data;

	as_buf_add(&o->told.body, at, n);
	return 0;
}

/* At the end of the line before a chunk. */
static int on_chunk(http_parser *p)
{
	struct other *o = p->data;
	const char *line = o->p + o->line;
	size_t n = o->at - o->line, digits = 0;

	while (digits < n && isxdigit((unsigned char)line[digits]))
		digits++;
	o->odd_chunk |= digits < 1 || digits > HEX_DIGITS || memchr(line, '\n', n);
	o->odd_chunk |= digits < n && !memchr("; \r", line[digits], 3);
	return 0;
}

/* At the end of the line behind it, or of all. */
static int on_chunk_end(http_parser *p)
{
	struct other *o = p->data;

	if (p->flags & F_TRAILING)
		return 0;
	o->odd_chunk |= o->p[o->at] != '\n' || o->p[o->at - 1] != '\r';
	o->line = o->at + 1;
	o->told.chunks++;
	return 0;
}

static int on_end(http_parser *p)
{
	struct other *o = p->data;

	o->told.status = p->status_code;
	if (p->status_code >= 200 || p->status_code == 101) {
		o->over = o->told.done = true;
		http_parser_pause(p, 1);
		return 0;
	}
	o->told.events = o->head_over = false;
	o->told.upgrade = (struct as_http_upgrade){0};
	o->next = o->at + 1;
	return 0;
}

static void read_theirs(struct other *o, const char *p, size_t n, bool bodyless)
{
	static const http_parser_settings settings = {.on_message_begin = on_begin,
						      .on_header_field = on_field,
						      .on_header_value = on_value,
						      .on_headers_complete = on_head,
						      .on_body = on_body,
						      .on_message_complete = on_end,
						      .on_chunk_header = on_chunk,
						      .on_chunk_complete = on_chunk_end};

	*o = (struct other){.p = p, .n = n, .bodyless = bodyless};
	o->told.body = AS_BUF(AS_BUF_FILE);
	http_parser_init(&o->parser, HTTP_RESPONSE);
	o->parser.data = o;
	while (o->at < n && !o->over && !o->parser.http_errno) {
		(void)http_parser_execute(&o->parser, &settings, p + o->at, 1);
		o->at++;
	}
	o->told.used = o->at;
	if (!o->over && !o->parser.http_errno)
		(void)http_parser_execute(&o->parser, &settings, p, 0);
	look_for_cr(o);
}

/* ── ours ─────────────────────────────────────────────────────────────── */

static void read_ours(struct told *t, const char *p, size_t n, bool bodyless)
{
	struct as_span piece;
	struct as_http h;

	*t = (struct told){.body = AS_BUF(AS_BUF_FILE)};
	as_http_response(&h, bodyless);
	h.upgrade = &t->upgrade;
	while (t->used < n && !as_http_over(&h)) {
		t->used += as_http_step(&h, p + t->used, n - t->used, &piece);
		as_buf_add(&t->body, piece.p, piece.n);
	}
	as_http_end(&h);
	t->done = h.state == AS_HTTP_DONE;
	t->keep = h.keep;
	t->events = h.events;
	t->status = h.status;
	t->chunks = h.chunks;
}

/* ── where they may differ ────────────────────────────────────────────── */

static bool odd_first(const struct other *o)
{
	return o->odd_first;
}

static bool odd_line(const struct other *o)
{
	return o->odd_line;
}

static bool long_line(const struct other *o)
{
	return o->long_line;
}

static bool tab(const struct other *o)
{
	return o->tab;
}

static bool nul(const struct other *o)
{
	return o->nul;
}

static bool lone_cr(const struct other *o)
{
	return o->lone_cr;
}

static bool odd_chunk(const struct other *o)
{
	return o->odd_chunk;
}

static bool two_codings(const struct other *o)
{
	return o->codings > 1;
}

static bool too_long(const struct other *o)
{
	return o->length > UINT64_C(1) << 62;
}

static bool odd_list(const struct other *o)
{
	return o->odd_list;
}

static bool proxy(const struct other *o)
{
	return o->proxy;
}

static bool longer(const struct other *o)
{
	return o->longer;
}

static bool close_of_1_0(const struct other *o)
{
	return o->close && o->keep_alive && o->parser.http_minor == 0;
}

/* An answer of which one holds is not compared. */
static const struct {
	enum http_errno complaint; /* of theirs, of what we take; or */
	bool (*is)(const struct other *o);
	const char *why;
} differences[] = {
	/* We are stricter, as RFC 9112 wants it; Debian builds theirs without its strictness. */
	{0, odd_first, "blank lines before it, another version, a status not of three digits"},
	{0, odd_line, "a line that is folded, a blank in a name"},
	{0, nul, "a NUL in a value, which theirs take of codings"},
	{0, lone_cr, "a CR without its LF: what comes behind it is not looked at by theirs"},
	{0, odd_chunk, "what is no size (of 15 digits; theirs count 0x80 as one), or not its end"},
	{0, two_codings, "Transfer-Encoding twice, or of nothing: only smugglers say that"},
	{0, too_long, "a length of more than 2^62 bytes: nobody waits for its end"},
	{0, long_line, "of a line of 255 bytes and more we read the beginning, or do not take it"},
	/* We are laxer where it harms nobody: a body ends at the same place. */
	{HPE_INVALID_HEADER_TOKEN, NULL, "names of visible bytes, values with control bytes"},
	{HPE_UNEXPECTED_CONTENT_LENGTH, NULL, "the same length twice (RFC 9110, 8.6); in trailers"},
	{HPE_INVALID_CONTENT_LENGTH, NULL, "a tab behind a length; anything in trailers"},
	{HPE_INVALID_CHUNK_SIZE, NULL, "a size that a tab follows, or a LF alone"},
	{HPE_LF_EXPECTED, NULL, "a CR within a reason, behind a size, or in trailers"},
	/* We read it in another way. */
	{0, tab, "tabs are blanks (RFC 9110, 5.6.3); theirs are a part of words"},
	{0, odd_list, "of \"chunk, chunked\", \",close\" theirs miss the word behind the comma"},
	{0, proxy, "Proxy-Connection is no header of an answer; theirs take it for Connection"},
	{0, longer, "Transfer-Encodings is another header; theirs forget what the one said"},
	{0, close_of_1_0, "close wins over keep-alive (RFC 9112, 9.3); of HTTP/1.0 theirs loses"},
};

static bool may_differ(const struct other *o)
{
	for (size_t i = 0; i < AS_LEN(differences); i++)
		if (differences[i].is ? differences[i].is(o)
				      : differences[i].complaint == o->parser.http_errno)
			return true;
	return false;
}

static void must_be_same(const struct told *a, const struct told *b)
{
	must(a->done == b->done);
	if (!a->done)
		return;
	must(a->status == b->status && a->used == b->used && a->keep == b->keep);
	must(a->events == b->events && a->chunks == b->chunks && a->body.len == b->body.len);
	must(!a->body.len || !memcmp(a->body.p, b->body.p, a->body.len));
	must(a->upgrade.websocket == b->upgrade.websocket);
	must(a->upgrade.extended == b->upgrade.extended);
	must(!strcmp(a->upgrade.text, b->upgrade.text));
}

static void compare(const char *p, size_t n, bool bodyless)
{
	struct other theirs;
	struct told ours;

	read_theirs(&theirs, p, n, bodyless);
	read_ours(&ours, p, n, bodyless);
	if (!may_differ(&theirs))
		must_be_same(&ours, &theirs.told);
	as_buf_done(&theirs.told.body);
	as_buf_done(&ours.body);
}

void oracle_http1(const char *p, size_t n)
{
	compare(p, n, false);
	compare(p, n, true);
}
